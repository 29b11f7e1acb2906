import Configuration
import FoundationEssentials
import Glibc
import Lifecycle

/// The folder in which `respool up` keeps jobs, files and logs.
struct UpFolder: Sendable {
    let path: String

    /// Free space below which nothing is started.
    private static let minFreeBytes = 64 << 20

    /// The folder that the option or its setting names, or the one of the user.
    init(_ arguments: Arguments) throws(CommandFailure) {
        if let folder = arguments.value(UpOptions.folder) {
            path = try SourceAddress.absolutePath(folder)
        } else {
            path = try Self.fallback()
        }
        guard !path.contains(":") else {
            throw .usage("the data folder is '\(path)': it must not contain a colon")
        }
        let excess = socket.utf8.count - PrivateRedis.maxSocketBytes
        guard excess <= 0 else {
            throw .usage(
                "the path of the data folder '\(path)' is \(excess) bytes too long for the socket in it: give a shorter one with --data"
            )
        }
    }

    var socket: String { "\(path)/redis.sock" }
    var redis: String { "\(path)/redis" }
    var uploads: String { "\(path)/uploads" }
    var outputs: String { "\(path)/outputs" }
    var logs: String { "\(path)/logs" }
    var lock: String { "\(path)/up.lock" }
    var callbackSecret: String { "\(path)/callback-secret" }

    /// Creates the folder and those below it; only this user may enter it.
    func create() throws(CommandFailure) {
        let parents = path.split(separator: "/").indices.map { index in
            "/" + path.split(separator: "/")[...index].joined(separator: "/")
        }
        for parent in parents { try makeFolder(parent) }
        let isOwn = access(lock, F_OK) == 0
        guard isOwn || (try? FileManager.default.contentsOfDirectory(atPath: path).isEmpty) ?? true else {
            throw .failed("'\(path)' has other files: give an empty folder, or a new one, with --data")
        }
        guard chmod(path, 0o700) == 0, access(path, R_OK | W_OK | X_OK) == 0 else {
            throw .failed("cannot write to the folder '\(path)': \(Errno.last); give another with --data")
        }
        var system = statvfs()
        let free = statvfs(path, &system) == 0 ? Int(system.f_bavail) * Int(system.f_frsize) : .max
        guard free >= Self.minFreeBytes else {
            throw .failed(
                "only \(Formatting.bytes(Int64(free))) are free where '\(path)' is: free some space, or give another folder with --data"
            )
        }
        for folder in [redis, uploads, outputs, logs] { try makeFolder(folder) }
    }

    /// The settings of the worker and the server: the folders here, unless the user has set others.
    func environment(redis address: String) -> [String: String] {
        let uploads = Environment.process.text(Settings.uploadFolder) ?? uploads
        let outputs = Environment.process.text(Settings.outputRoot) ?? outputs
        // Results may be sources too, unless clients are told apart by tokens: one could then read the results of another.
        let isShared = Environment.process.text(Settings.apiTokens) == nil && outputs != Settings.noFolder
        let own = isShared ? [uploads, outputs] : [uploads]
        let roots = own + [Environment.process.text(Settings.sourceRoots)].compactMap { $0 }
        return [
            Settings.uploadFolder.name: uploads, Settings.outputRoot.name: outputs,
            Settings.sourceRoots.name: roots.joined(separator: ":"), Settings.redisURL.name: address,
        ]
    }

    /// The file with the secret that callbacks are signed with; it is made once. `nil` if the user has set another secret.
    func secretFile() throws(CommandFailure) -> String? {
        let settings: [any SettingDeclaration] = [Settings.callbackSecret, Settings.callbackSecretFile]
        guard settings.allSatisfy({ Environment.process.text($0) == nil }) else { return nil }
        guard access(callbackSecret, F_OK) != 0 else { return callbackSecret }
        let bytes = (0..<32).map { _ in UInt8.random(in: .min ... .max) }
        let line = Array("whsec_\(Data(bytes).base64EncodedString())\n".utf8)
        // A file with a part of a secret never has the name.
        let new = callbackSecret + ".new"
        let file = open(new, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
        guard file >= 0 else { throw .failed("cannot write to '\(new)': \(Errno.last)") }
        let descriptor = Descriptor(owning: file)
        guard write(descriptor.number, line, line.count) == line.count, fsync(descriptor.number) == 0,
            rename(new, callbackSecret) == 0
        else { throw .failed("cannot write to '\(callbackSecret)': \(Errno.last)") }
        return callbackSecret
    }

    private func makeFolder(_ folder: String) throws(CommandFailure) {
        guard mkdir(folder, 0o700) == 0 || errno == EEXIST else {
            throw .failed("cannot create the folder '\(folder)': \(Errno.last); give another with --data")
        }
    }

    private static func fallback() throws(CommandFailure) -> String {
        if let folder = Environment.process.foreign("XDG_DATA_HOME"), folder.hasPrefix("/") {
            return "\(folder)/respool"
        }
        guard let home = Environment.process.foreign("HOME") else {
            throw .usage("HOME is not set: give a folder with --data")
        }
        return "\(home)/.local/share/respool"
    }
}
