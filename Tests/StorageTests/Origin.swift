import FoundationEssentials
import TestSupport

/// The server that all suites share, and what it serves.
actor Origin {
    static let shared = Origin()

    /// What it serves: a megabyte that repeats nowhere.
    static let content: [UInt8] = {
        var state: UInt64 = 0x9e37_79b9_7f4a_7c15
        return (0..<(1 << 20)).map { _ in
            state ^= state << 13
            state ^= state >> 7
            state ^= state << 17
            return UInt8(truncatingIfNeeded: state >> 32)
        }
    }()

    private var starting: Task<Running, any Error>?

    private struct Running {
        let process: ChildProcess
        let folder: TemporaryFolder
        let port: Int
        let securePort: Int
    }

    /// The URL of a behaviour; `name` must be the test's own.
    func url(_ behaviour: String, _ name: String, _ number: Int = 0) async throws -> String {
        "http://127.0.0.1:\(try await running().port)/\(behaviour)/\(name)/\(number)"
    }

    /// The URL of a playlist with that text, and of another each time that it is asked for again.
    func list(_ name: String, _ texts: [String]) async throws -> String {
        let query = texts.map { "text=" + Self.encoded($0) }
        return try await url("list", name) + "?" + query.joined(separator: "&")
    }

    /// The text as one word of a query.
    static func encoded(_ text: String) -> String {
        text.utf8.map { byte in
            let scalar = Unicode.Scalar(byte)
            let isPlain = scalar.isASCII && (scalar.properties.isAlphabetic || scalar.properties.numericType != nil)
            return isPlain ? String(scalar) : "%" + (byte < 16 ? "0" : "") + String(byte, radix: 16)
        }.joined()
    }

    func port() async throws -> Int { try await running().port }

    func secureURL(_ behaviour: String, _ name: String) async throws -> String {
        "https://localhost:\(try await running().securePort)/\(behaviour)/\(name)"
    }

    func certificateFile() async throws -> String { try await running().folder.file("certificate.pem") }

    /// What was put under the name.
    func body(_ name: String) async throws -> String? {
        try? String(contentsOfFile: try await running().folder.file("\(name).body"), encoding: .utf8)
    }

    /// The `Range` fields that came under the name, in their order; `-` for none.
    func ranges(_ name: String) async throws -> [String] {
        try await lines(name).filter { $0.hasPrefix("GET ") }.map { String($0.split(separator: " ")[1]) }
    }

    /// Bytes of bodies that were sent under the name, once all of its requests are over.
    func sent(_ name: String) async throws -> Int {
        try await eventually("every request is over") {
            let lines = try await lines(name)
            return lines.count { $0.hasPrefix("GET ") } == lines.count { $0.hasPrefix("SENT ") }
        }
        return try await lines(name).reduce(0) { $0 + ($1.hasPrefix("SENT ") ? Int($1.dropFirst(5)) ?? 0 : 0) }
    }

    /// What came and went under the name, a line an event.
    func lines(_ name: String) async throws -> [String] {
        let text = try? String(contentsOfFile: try await running().folder.file("\(name).log"), encoding: .utf8)
        return (text ?? "").split(separator: "\n").map(String.init)
    }

    private func running() async throws -> Running {
        if starting == nil { starting = Task { try await Self.start() } }
        return try await starting!.value
    }

    private static func start() async throws -> Running {
        let folder = try TemporaryFolder()
        let file = try folder.write("content", content)
        let process = try await ChildProcess("python3", [Script.path("origin.py"), file, folder.path], input: .open)
        try await eventually("the server says its ports") { process.output.hasSuffix("\n") }
        let ports = process.output.split(whereSeparator: \.isWhitespace).compactMap { Int($0) }
        return Running(process: process, folder: folder, port: ports[0], securePort: ports[1])
    }
}
