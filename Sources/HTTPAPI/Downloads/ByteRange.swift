/// A single range of bytes that a request asks for (RFC 9110, section 14).
enum ByteRange: Hashable {
    /// No range, a list of ranges, or one that is malformed: the whole file is sent.
    case whole
    case part(Range<Int64>)
    /// The range begins after the end of the file.
    case unsatisfiable

    /// Parses the header Range for a file of that size.
    init(_ text: String?, size: Int64) {
        self = .whole
        guard let text, text.hasPrefix("bytes=") else { return }
        let words = text.dropFirst("bytes=".count).split(separator: "-", omittingEmptySubsequences: false).map(
            String.init)
        guard words.count == 2, words.contains(where: { !$0.isEmpty }),
            words.allSatisfy({ $0.utf8.count <= 18 && $0.utf8.allSatisfy { (0x30...0x39).contains($0) } })
        else { return }
        guard let first = Int64(words[0]) else {
            let count = min(Int64(words[1])!, size)
            self = count > 0 ? .part(size - count..<size) : .unsatisfiable
            return
        }
        let last = Int64(words[1]) ?? .max
        guard last >= first else { return }
        self = first < size ? .part(first..<min(last, size - 1) + 1) : .unsatisfiable
    }
}
