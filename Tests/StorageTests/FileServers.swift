import FoundationEssentials
import JobSchema
import SlotIPC
import TestSupport
import Testing

/// Servers of files, and what was read from them.
struct FileServers {
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
        let ports = try await Forking.shared.ports(folder)
        return FileServers(
            folder: folder, ftp: ports[0], old: ports[1], ftps: ports[2], half: ports[3],
            sftp: ports[4])
    }

    /// The process whose forks are the servers of each test, because Python's packages take long to load.
    private actor Forking {
        static let shared = Forking()

        private var starting: Task<ChildProcess, any Error>?

        /// The ports of new servers, which end when the folder is removed.
        func ports(_ folder: TemporaryFolder) async throws -> [Int] {
            let start = starting ?? Task { try await Self.start() }
            starting = start
            let process = try await start.value
            let root = folder.file("root")
            await process.write("\(root) \(folder.file("log"))\n")
            var ports: [Int] = []
            try await eventually("the servers say their ports") {
                let lines = process.output.split(separator: "\n", omittingEmptySubsequences: false).dropLast()
                let words = lines.first { $0.hasPrefix(root + " ") }?.split(separator: " ") ?? []
                ports = words.dropFirst().compactMap { Int($0) }
                return !ports.isEmpty
            }
            return ports
        }

        private static func start() async throws -> ChildProcess {
            let certificate = try await Origin.shared.certificateFile()
            let key = certificate.replacing("certificate.pem", with: "key.pem")
            // Debian's own Python, which has the packages.
            return try await ChildProcess(
                "/usr/bin/python3", [Script.path("file_servers.py"), certificate, key], input: .open)
        }
    }
}
