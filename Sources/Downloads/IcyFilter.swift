import MediaTypes
import Text

/// Separates the audio of a SHOUTcast or Icecast stream from the titles that are interleaved with it.
///
/// After every `interval` bytes of audio, one byte gives the length of the following text in units of 16 bytes.
struct IcyFilter {
    private let interval: Int
    /// Bytes of audio until the next length byte.
    private var audioLeft: Int
    /// Bytes of text that are still missing, and those received so far.
    private var textLeft = 0
    private var text: [UInt8] = []
    private var last: String?
    private(set) var titles: [StreamTitle] = []

    /// Maximum size in bytes of the titles that are not yet taken. As JSON, they must fit into one packet of 128 KiB.
    private static let maxBytes = 60_000
    private var bytes = 0

    /// A filter for the interval in bytes that the server announced; `nil` if the interval is out of range.
    init?(interval: Int) {
        guard (1...16 << 20).contains(interval) else { return nil }
        self.interval = interval
        audioLeft = interval
    }

    mutating func takeTitles() -> [StreamTitle] {
        defer { (titles, bytes) = ([], 0) }
        return titles
    }

    /// Returns the ranges of audio bytes. The first byte of `bytes` is at `position` of the stream.
    mutating func take(_ bytes: UnsafeRawBufferPointer, at position: Int64) -> [Range<Int>] {
        var (runs, index, audio) = ([Range<Int>](), 0, position)
        while index < bytes.count {
            if textLeft > 0 {
                let count = min(textLeft, bytes.count - index)
                text += bytes[index..<index + count]
                index += count
                textLeft -= count
                if textLeft == 0 { finishText(at: audio) }
            } else if audioLeft > 0 {
                let count = min(audioLeft, bytes.count - index)
                runs.append(index..<index + count)
                index += count
                audio += Int64(count)
                audioLeft -= count
            } else {
                textLeft = Int(bytes[index]) * 16
                text = []
                audioLeft = interval
                index += 1
            }
        }
        return runs
    }

    private mutating func finishText(at offset: Int64) {
        guard let title = Self.title(in: text), title != last else { return }
        // A character may take two bytes in JSON. The keys and the offset take the rest.
        let size = 2 * title.utf8.count + 60
        guard bytes + size <= Self.maxBytes else { return }
        bytes += size
        last = title
        titles.append(StreamTitle(offset: offset, title: title))
    }

    /// The value of `StreamTitle='…';`, which may contain quotes. Old stations encode it as Latin-1.
    static func title(in text: [UInt8]) -> String? {
        let mark = Array("StreamTitle='".utf8)
        guard let start = text.firstRange(of: mark)?.upperBound else { return nil }
        let rest = text[start...]
        let end = rest.firstRange(of: Array("';".utf8))?.lowerBound ?? rest.firstIndex(of: 0) ?? rest.endIndex
        let value = rest[..<end]
        let decoded =
            String(validating: value, as: UTF8.self)
            ?? String(value.map { Character(Unicode.Scalar($0)) })
        let clean = decoded.unicodeScalars.filter { !$0.isUnprintable }.prefix(500)
        return String(String.UnicodeScalarView(clean))
    }
}
