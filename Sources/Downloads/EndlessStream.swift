import MediaTypes
import Requests
import SlotIPC

/// The state of a source without an end, such as a radio station.
struct EndlessStream {
    private var titles: IcyFilter?
    /// Bytes from the start of the spool whose disk space has been freed.
    private var dropped: Int64 = 0

    /// Maximum number of bytes buffered ahead of the reader.
    static let maxAhead: Int64 = 4 << 20

    /// `nil` if the response body has an end.
    init?(_ head: HTTPHead) {
        guard head.isEndless else { return nil }
        titles = head["icy-metaint"].flatMap { Int($0) }.flatMap { IcyFilter(interval: $0) }
    }

    mutating func takeTitles() -> [StreamTitle] { titles?.takeTitles() ?? [] }

    /// The ranges of audio bytes. The first byte of `bytes` is at `position` of the stream.
    mutating func audio(in bytes: UnsafeRawBufferPointer, at position: Int64) -> [Range<Int>] {
        titles?.take(bytes, at: position) ?? [0..<bytes.count]
    }

    /// Frees the disk space of bytes far behind the reader.
    mutating func discard(before offset: Int64, of spool: borrowing Spool) {
        let (end, step) = (offset - LinkRequest.keptBehind, LinkRequest.keptBehind)
        guard end - dropped >= step else { return }
        dropped = end
        spool.punch(before: end)
    }
}
