import Crypto

@testable import Redis

/// Bytes as a server's replies, in two pieces.
enum ReplyTarget {
    static func read(_ bytes: UnsafeRawBufferPointer) {
        guard !claimsMillions(bytes), let reader = try? ReplyReader() else { return }
        let middle = min(Int(bytes.first ?? 0), bytes.count)
        for piece in [bytes[..<middle], bytes[middle...]] where !piece.isEmpty {
            do {
                _ = try reader.receive { buffer in
                    buffer.copyBytes(from: piece.prefix(buffer.count))
                    return .bytes(min(piece.count, buffer.count))
                }
                while let value = try reader.next() { _ = (value.string, value.integer, value.dictionary) }
            } catch { return }
        }
    }

    /// Whether there is an array of a million elements: hiredis 0.14 makes room for as many as a server claims, and the server
    /// is the operator's own.
    private static func claimsMillions(_ bytes: UnsafeRawBufferPointer) -> Bool {
        bytes.indices.contains { start in
            bytes[start] == UInt8(ascii: "*")
                && bytes[(start + 1)...].prefix(7).count { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) } == 7
        }
    }
}
