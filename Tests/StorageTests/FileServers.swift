import FoundationEssentials
import SlotProtocol
import TestSupport
import Testing

/// Servers of files, and what was read from them.
struct FileServers {
    let process: ChildProcess
    let folder: TemporaryFolder
    let ftp: Int
    let old: Int
    let sftp: Int

    /// `<server> <file> <offset>` of each transfer that began.
    var reads: [String] {
        let text = (try? String(contentsOfFile: folder.file("log"), encoding: .utf8)) ?? ""
        return text.split(separator: "\n").map(String.init).filter { !$0.contains("login") }
    }

    func url(_ scheme: String, _ file: String, user: String = "me:secret@") -> String {
        "\(scheme)://\(user)127.0.0.1:\(scheme == "sftp" ? sftp : ftp)/\(file)"
    }

    var policy: TransferPolicy {
        var policy = RemoteSourceTests.policy
        policy.sourceSchemes = [.ftp, .sftp]
        policy.outputSchemes = [.ftp, .sftp]
        policy.knownHostsFile = folder.file("known-hosts")
        return policy
    }

    static func start() async throws -> FileServers {
        let folder = try TemporaryFolder()
        try FileManager.default.createDirectory(atPath: folder.file("root"), withIntermediateDirectories: false)
        for name in ["content", "cut", "new"] {
            let file = try folder.write("root/\(name)", Origin.content)
            guard name != "new" else { continue }
            try FileManager.default.setAttributes(
                [.modificationDate: Date(timeIntervalSince1970: 1_600_000_000)], ofItemAtPath: file)
        }
        _ = try folder.write("root/empty", [])
        // Debian's own Python, which has the packages.
        let process = try await ChildProcess(
            "/usr/bin/python3", ["-c", fileServersScript, folder.file("root"), folder.file("log")], input: .open)
        try await eventually("the servers say their ports", within: .seconds(60)) { process.output.hasSuffix("\n") }
        let ports = process.output.split(whereSeparator: \.isWhitespace).compactMap { Int($0) }
        return FileServers(process: process, folder: folder, ftp: ports[0], old: ports[1], sftp: ports[2])
    }
}
