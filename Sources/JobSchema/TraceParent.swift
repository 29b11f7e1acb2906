/// The position of a request in a distributed trace: the value of the header `traceparent` (W3C Trace Context, version 00).
package struct TraceParent: Sendable, Hashable {
    /// 32 hexadecimal digits, not all zero.
    package let traceID: String
    /// 16 hexadecimal digits, not all zero.
    package let spanID: String
    /// The flags; the lowest bit says that the caller records the trace.
    package let flags: UInt8

    /// What a valid value must be, for messages.
    package static let rule =
        "of the form 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01, in lower case, no id all zeros"

    package init(traceID: String, spanID: String, flags: UInt8) {
        self.traceID = traceID
        self.spanID = spanID
        self.flags = flags
    }

    /// Parses the value; `nil` if it is not valid. The queue's scripts use the same rule.
    package init?(_ text: String) {
        let parts = text.split(separator: "-", omittingEmptySubsequences: false)
        guard parts.count == 4, parts[0] == "00", zip(parts, [2, 32, 16, 2]).allSatisfy({ $0.utf8.count == $1 }),
            parts.allSatisfy({ $0.utf8.allSatisfy(Self.isDigit) }), Self.isID(parts[1]), Self.isID(parts[2]),
            let flags = UInt8(parts[3], radix: 16)
        else { return nil }
        self.init(traceID: String(parts[1]), spanID: String(parts[2]), flags: flags)
    }

    /// The value of the header.
    package var text: String {
        let digits = String(flags, radix: 16)
        return "00-\(traceID)-\(spanID)-" + (digits.utf8.count == 1 ? "0" : "") + digits
    }

    /// Whether the caller records the trace.
    package var isSampled: Bool { flags & 1 == 1 }

    private static func isDigit(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains(byte)
    }

    private static func isID(_ digits: Substring) -> Bool { digits.utf8.contains { $0 != UInt8(ascii: "0") } }
}
