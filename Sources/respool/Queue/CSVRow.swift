/// A CSV record (RFC 4180), to which lines are appended while a quote is open.
struct CSVRow {
    private var done: [[UInt8]] = []
    private var cell: [UInt8] = []
    private var isQuoted = false
    private var wasQuote = false

    /// Whether the record continues on the next line.
    var isOpen: Bool { isQuoted && !wasQuote }

    /// The cells; `nil` if one is not valid UTF-8.
    var cells: [String]? {
        let texts = (done + [cell]).map { String(validating: $0, as: UTF8.self) }
        return texts.contains(nil) ? nil : texts.compactMap { $0 }
    }

    mutating func append(_ bytes: some Sequence<UInt8>) {
        for byte in bytes { append(byte) }
    }

    private mutating func append(_ byte: UInt8) {
        let isQuote = byte == UInt8(ascii: "\"")
        if isQuoted, wasQuote {
            wasQuote = false
            // A doubled quote is a literal quote. Any other character ends the quoted part.
            if isQuote { return cell.append(byte) }
            isQuoted = false
        } else if isQuoted {
            if isQuote { wasQuote = true } else { cell.append(byte) }
            return
        }
        if isQuote, cell.isEmpty {
            isQuoted = true
        } else if byte == UInt8(ascii: ",") {
            done.append(cell)
            cell = []
        } else {
            cell.append(byte)
        }
    }
}
