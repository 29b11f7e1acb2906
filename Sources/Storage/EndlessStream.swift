import MediaTypes
import SlotIPC

/// What is special about a source without an end, such as a radio station.
struct EndlessStream {
    private var titles: IcyFilter?
    /// Bytes from the start that are given back to the disk.
    private var dropped: Int64 = 0

    /// Bytes that may wait for the reader.
    static let maxAhead: Int64 = 4 << 20

    /// Nothing if the answer's body has an end.
    init?(_ head: HTTPHead) {
        guard head.isEndless else { return nil }
        titles = head["icy-metaint"].flatMap { Int($0) }.flatMap { IcyFilter(interval: $0) }
    }

    mutating func takeTitles() -> [StreamTitle] { titles?.takeTitles() ?? [] }

    /// The runs of audio among the bytes, of which the first goes to `position`.
    mutating func audio(in bytes: UnsafeRawBufferPointer, at position: Int64) -> [Range<Int>] {
        titles?.take(bytes, at: position) ?? [0..<bytes.count]
    }

    /// Gives back what lies far behind the reader.
    mutating func discard(before offset: Int64, of spool: borrowing Spool) {
        let (end, step) = (offset - LinkRequest.keptBehind, LinkRequest.keptBehind)
        guard end - dropped >= step else { return }
        dropped = end
        spool.punch(before: end)
    }
}
