import FoundationEssentials
import Glibc
import SlotProtocol
import TestSupport

/// The store that all suites share; each test has a bucket of its own.
actor ObjectStore {
    static let shared = ObjectStore()
    static let keys = S3Keys(identifier: "AKIDEXAMPLE", secret: "wJalr/XUtn+FEMI=K7")
    static let passingKeys = S3Keys(identifier: "ASIATEMP", secret: "passing", sessionToken: "token/+=")

    private var starting: Task<(ChildProcess, TemporaryFolder, Int), any Error>?

    /// A policy by which the store is reached.
    func policy() async throws -> TransferPolicy {
        var policy = TransferPolicy()
        policy.allowedHosts = ["127.0.0.1"]
        policy.s3.keys = Self.keys
        policy.s3.region = "eu-central-1"
        policy.s3.endpoint = "http://127.0.0.1:\(try await running().2)"
        return policy
    }

    /// Puts an object into the bucket, which no request may have named before.
    func seed(_ bucket: String, _ key: String, _ bytes: [UInt8]) async throws {
        let path = try await running().1.file("seeds/\(bucket)/\(key)")
        try FileManager.default.createDirectory(
            atPath: String(path[..<path.lastIndex(of: "/")!]), withIntermediateDirectories: true)
        try Data(bytes).write(to: URL(filePath: path))
    }

    /// Has requests whose line meets the pattern go wrong, so many times: a status, `drop`, `hang` or `late-error`.
    func spoil(_ bucket: String, _ rules: String...) async throws {
        try await running().1.write("\(bucket).rules", text: rules.joined(separator: "\n"))
    }

    /// The requests that came for the bucket: method and URL, the status of the answer, and the range.
    func requests(_ bucket: String) async throws -> [String] {
        let text = try? String(contentsOfFile: try await running().1.file("\(bucket).log"), encoding: .utf8)
        return (text ?? "").split(separator: "\n").map(String.init)
    }

    /// What the bucket holds since its last change.
    func content(_ bucket: String) async throws -> Content {
        let path = try await running().1.file("\(bucket).json")
        guard let data = try? Data(contentsOf: URL(filePath: path)) else { return Content(objects: [:], uploads: []) }
        return try JSONDecoder().decode(Content.self, from: data)
    }

    struct Content: Decodable {
        let objects: [String: Object]
        /// The keys of uploads that are not complete.
        let uploads: [String]

        struct Object: Decodable {
            let size: Int
            let sha256: String
            let etag: String
            let metadata: [String: String]
            let storage: String
            let encryption: String
        }
    }

    private func running() async throws -> (ChildProcess, TemporaryFolder, Int) {
        if starting == nil { starting = Task { try await Self.start() } }
        return try await starting!.value
    }

    private static func start() async throws -> (ChildProcess, TemporaryFolder, Int) {
        let folder = try TemporaryFolder()
        let keys = [Self.keys, passingKeys].map { key in
            "\(key.identifier)=\(key.secret)" + (key.sessionToken.map { ":\($0)" } ?? "")
        }
        let process = try await ChildProcess(python, ["-c", objectStoreScript, folder.path] + keys, input: .open)
        do {
            try await eventually("the store says its port", within: .seconds(60)) {
                process.output.hasSuffix("\n") || !process.isRunning
            }
        }
        guard let port = Int(process.output.prefix { $0.isNumber }) else {
            throw NotInTime(description: "no store: `deploy/install-python` installs it; \(process.errors)")
        }
        return (process, folder, port)
    }

    /// The package's own Python, which has what Debian's lacks.
    private static var python: String {
        let own = Programs.folder + "/../../python/bin/python3"
        return access(own, X_OK) == 0 ? own : "python3"
    }
}
