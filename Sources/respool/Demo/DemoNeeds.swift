import Configuration
import Glibc
import Lifecycle

/// The programs and files that the demo requires.
enum DemoNeeds {
    /// The recordings of Debian's package sound-theme-freedesktop.
    static let sounds = "/usr/share/sounds/freedesktop/stereo"

    private static let programs = [
        (program: "redis-server", package: "redis-server"), (program: "ffprobe", package: "ffmpeg"),
        (program: "setpriv", package: "util-linux"),
    ]

    /// Fails if something is missing, and names the packages to install.
    static func check() throws(CommandFailure) {
        var missing = programs.filter { !isInPath($0.program) }
        if access("\(sounds)/bell.oga", R_OK) != 0 { missing.append((sounds, "sound-theme-freedesktop")) }
        guard missing.isEmpty else {
            throw .failed(
                "the demo needs \(missing.map(\.program).joined(separator: " and ")): "
                    + "run `apt-get install \(missing.map(\.package).joined(separator: " "))`")
        }
    }

    private static func isInPath(_ program: String) -> Bool {
        (Environment.process.foreign("PATH") ?? "/usr/bin:/bin").split(separator: ":").contains {
            access("\($0)/\(program)", X_OK) == 0
        }
    }
}
