/// One record of CSV (RFC 4180), fed line by line while its quotes are open.
struct CSVRow {
    private var done: [[UInt8]] = []
    private var cell: [UInt8] = []
    private var isQuoted = false
    private var wasQuote = false

    /// Whether the record goes on in the next line.
    var isOpen: Bool { isQuoted && !wasQuote }

    /// The cells; nothing if one is not UTF-8.
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
            // A quote after a quote is one quote; anything else closes the quotes.
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
