import FoundationEssentials
import TestSupport

/// Sends each text as it is on its own connection, and returns all that comes back; one after the other, or all together.
func rawExchange(
    _ port: UInt16, _ texts: [String], seconds: Double = 30, host: String = "127.0.0.1", from source: String? = nil,
    isTogether: Bool = false, hasTLS: Bool = false
) async throws -> [String] {
    let input = try JSONEncoder().encode(texts)
    let outcome = try await ChildProcess.run(
        "python3",
        [Script.path("raw_exchange.py"), host, "\(port)", "\(seconds)"] + (hasTLS ? ["tls"] : [])
            + (source.map { ["from=\($0)"] } ?? [])
            + (isTogether ? ["together"] : []),
        input: .bytes(Array(input)))
    return try JSONDecoder().decode([String].self, from: Data(outcome.output.utf8))
}

/// A request with the headers of any client, which closes the connection.
func rawRequest(_ line: String, _ headers: String..., body: String = "") -> String {
    let length = body.isEmpty ? [] : ["Content-Length: \(body.utf8.count)"]
    return ([line, "Host: localhost", "Connection: close"] + length + headers + ["", ""]).joined(separator: "\r\n")
        + body
}
