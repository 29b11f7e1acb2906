/// Encodes strings as JSON without an encoder, for lines that must be cheap.
package enum JSONText {
    /// The string in quotes, escaped as RFC 8259 section 7 requires, and so that it cannot control a terminal.
    package static func quoted(_ text: String) -> String {
        var result = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"": result += "\\\""
            case "\\": result += "\\\\"
            case "\n": result += "\\n"
            case "\r": result += "\\r"
            case "\t": result += "\\t"
            case _ where scalar.isUnprintable: result += scalar.escape
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result + "\""
    }
}
