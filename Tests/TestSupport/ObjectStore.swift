import FoundationEssentials
import Glibc
import Text

/// The S3 store shared by all suites. Each test uses a separate bucket.
package actor ObjectStore {
    package static let shared = ObjectStore()
    package static let keys = (identifier: "AKIDEXAMPLE", secret: "wJalr/XUtn+FEMI=K7")
    package static let passingKeys = (identifier: "ASIATEMP", secret: "passing", sessionToken: "token/+=")

    private var starting: Task<(ChildProcess, TemporaryFolder, Int), any Error>?

    /// The URL of the store.
    package var endpoint: String { get async throws { "http://127.0.0.1:\(try await running().2)" } }

    /// Puts an object into the bucket. No earlier request may have used the bucket.
    package func seed(_ bucket: String, _ key: String, _ bytes: [UInt8]) async throws {
        let folder = try await running().1.file("seeds/\(bucket)")
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        // A key may contain `/../`.
        let name = PercentEncoding.encoded(key, keeping: PercentEncoding.unreserved.contains)
        try Data(bytes).write(to: URL(filePath: "\(folder)/\(name)"))
    }

    /// Makes requests fail whose request line matches a pattern, a given number of times: with a status, `drop`, `half`,
    /// `hang`, `lost`, `long-name` or `late-error`.
    package func spoil(_ bucket: String, _ rules: String...) async throws {
        try await running().1.write("\(bucket).rules", text: rules.joined(separator: "\n"))
    }

    /// The requests for the bucket: method and URL, the status of the response, and the range.
    package func requests(_ bucket: String) async throws -> [String] {
        let text = try? String(contentsOfFile: try await running().1.file("\(bucket).log"), encoding: .utf8)
        return (text ?? "").split(separator: "\n").map(String.init)
    }

    /// The contents of the bucket after its last change.
    package func content(_ bucket: String) async throws -> Content {
        let path = try await running().1.file("\(bucket).json")
        guard let data = try? Data(contentsOf: URL(filePath: path)) else { return Content(objects: [:], uploads: []) }
        return try JSONDecoder().decode(Content.self, from: data)
    }

    package struct Content: Decodable {
        package let objects: [String: Object]
        /// The keys of incomplete multipart uploads.
        package let uploads: [String]

        package struct Object: Decodable {
            package let size: Int
            package let sha256: String
            package let etag: String
            package let metadata: [String: String]
            package let storage: String
            package let encryption: String
        }
    }

    private func running() async throws -> (ChildProcess, TemporaryFolder, Int) {
        if starting == nil { starting = Task { try await Self.start() } }
        return try await starting!.value
    }

    private static func start() async throws -> (ChildProcess, TemporaryFolder, Int) {
        let folder = try TemporaryFolder()
        let keys = [
            "\(keys.identifier)=\(keys.secret)",
            "\(passingKeys.identifier)=\(passingKeys.secret):\(passingKeys.sessionToken)",
        ]
        let process = try await ChildProcess(
            python, [Script.path("object_store.py"), folder.path] + keys, input: .open)
        try await eventually("the store says its port") {
            process.output.hasSuffix("\n") || !process.isRunning
        }
        guard let port = Int(process.output.prefix { $0.isNumber }) else {
            throw NotInTime(description: "no store: `deploy/install-python` installs it; \(process.errors)")
        }
        return (process, folder, port)
    }

    /// The Python installation of the package, which has modules that Debian's lacks.
    private static var python: String {
        let own = Programs.folder + "/../../python/bin/python3"
        return access(own, X_OK) == 0 ? own : "python3"
    }
}
