import Text

/// The value of a field of a log line. A number has no quotes in JSON.
package protocol LogValue: Sendable {
    /// The value in a line of text.
    var logText: String { get }
    /// The value in a line of JSON.
    var logJSON: String { get }
}

extension String: LogValue {
    package var logText: String { self }
    package var logJSON: String { JSONText.quoted(self) }
}

extension LogValue where Self: BinaryInteger {
    package var logText: String { String(self) }
    package var logJSON: String { logText }
}

extension Int: LogValue {}
extension Int32: LogValue {}
extension Int64: LogValue {}
extension UInt16: LogValue {}

/// Seconds with one decimal unless they are whole.
extension Duration: LogValue {
    package var logText: String { rounded }
    package var logJSON: String { rounded }
}
