import Glibc

/// The programs and files that the demo requires.
enum DemoNeeds {
    /// The recordings of Debian's package sound-theme-freedesktop.
    static let sounds = "/usr/share/sounds/freedesktop/stereo"

    /// Fails if something is missing, and names the packages to install.
    static func check() throws(CommandFailure) {
        var missing = [InstalledProgram.redisServer, .ffprobe, .setpriv].filter { !$0.isInstalled }
            .map { (name: $0.name, package: $0.package) }
        if access("\(sounds)/bell.oga", R_OK) != 0 { missing.append((sounds, "sound-theme-freedesktop")) }
        guard missing.isEmpty else { throw InstalledProgram.missing(missing, for: "the demo") }
    }
}
