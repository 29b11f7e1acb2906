import Configuration
import Glibc

/// A program of the system that a command starts.
struct InstalledProgram: Sendable {
    let name: String
    /// The package of Debian that has it.
    let package: String

    /// The server of queues: that of Valkey where only it is installed.
    static var redisServer: InstalledProgram {
        let redis = InstalledProgram(name: "redis-server", package: "redis-server")
        let valkey = InstalledProgram(name: "valkey-server", package: "valkey-server")
        return !redis.isInstalled && valkey.isInstalled ? valkey : redis
    }
    static let ffprobe = InstalledProgram(name: "ffprobe", package: "ffmpeg")
    static let setpriv = InstalledProgram(name: "setpriv", package: "util-linux")

    /// Whether it is in a folder of `PATH`.
    var isInstalled: Bool {
        (Environment.process.foreign("PATH") ?? "/usr/bin:/bin").split(separator: ":").contains {
            access("\($0)/\(name)", X_OK) == 0
        }
    }

    /// The error if something is missing, with the packages to install.
    static func missing(_ missing: [(name: String, package: String)], for user: String) -> CommandFailure {
        .failed(
            "\(user) needs \(missing.map(\.name).joined(separator: " and ")): "
                + "run `apt-get install \(missing.map(\.package).joined(separator: " "))`")
    }
}
