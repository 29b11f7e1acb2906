import FoundationEssentials
import JobSchema
import SlotIPC
import TestSupport
import Testing

/// Servers of files, and what was read from them.
struct FileServers {
    let process: ChildProcess
    let folder: TemporaryFolder
    let ftp: Int
    let old: Int
    let ftps: Int
    /// Of FTP over TLS that takes the bytes themselves without.
    let half: Int
    let sftp: Int

    /// `<server> <file> <offset>` of each transfer that began.
    var reads: [String] {
        let text = (try? String(contentsOfFile: folder.file("log"), encoding: .utf8)) ?? ""
        return text.split(separator: "\n").map(String.init).filter { !$0.contains("login") }
    }

    func url(_ scheme: String, _ file: String, user: String = "me:secret@") -> String {
        switch scheme {
        case "sftp": "sftp://\(user)127.0.0.1:\(sftp)/\(file)"
        // As the certificate has it.
        case "ftps": "ftps://\(user)localhost:\(ftps)/\(file)"
        default: "ftp://\(user)127.0.0.1:\(ftp)/\(file)"
        }
    }

    var policy: TransferPolicy {
        var policy = RemoteSourceTests.policy
        policy.allowedHosts.append("localhost")
        policy.allowedOutputHosts.append("localhost")
        policy.sourceSchemes = Set(FileScheme.allCases)
        policy.outputSchemes = Set(FileScheme.allCases)
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
        try FileManager.default.createDirectory(
            atPath: folder.file("root/home"), withIntermediateDirectories: false)
        let certificate = try await Origin.shared.certificateFile()
        let key = certificate.replacing("certificate.pem", with: "key.pem")
        // Debian's own Python, which has the packages.
        let process = try await ChildProcess(
            "/usr/bin/python3",
            [Script.path("file_servers.py"), folder.file("root"), folder.file("log"), certificate, key], input: .open)
        try await eventually("the servers say their ports") { process.output.hasSuffix("\n") }
        let ports = process.output.split(whereSeparator: \.isWhitespace).compactMap { Int($0) }
        return FileServers(
            process: process, folder: folder, ftp: ports[0], old: ports[1], ftps: ports[2], half: ports[3],
            sftp: ports[4])
    }
}
