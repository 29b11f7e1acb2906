package import SlotProtocol

/// The name of a queue: 1 to 64 letters, digits, `_`, `.` and `-`.
package struct QueueName: Sendable, Hashable {
    package let text: String

    package static let `default` = QueueName(unchecked: "default")

    package init(_ text: String) throws(Failure) {
        guard (1...64).contains(text.utf8.count), text.utf8.allSatisfy(Self.isAllowed) else {
            throw Failure(
                .invalidRequest, "a queue's name is 1 to 64 of A-Z a-z 0-9 _ . -, and `\(text.prefix(80))` is not")
        }
        self.text = text
    }

    private init(unchecked text: String) { self.text = text }

    private static func isAllowed(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "."), UInt8(ascii: "-"):
            true
        default: false
        }
    }
}
