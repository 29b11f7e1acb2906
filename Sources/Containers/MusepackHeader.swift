package import Bytes

/// The delay and length in the header of a Musepack file, as the reference decoder interprets them.
package struct MusepackHeader {
    /// Samples that a decoder returns before the first audible one.
    package let delay: Int64
    /// Audible samples.
    package let samples: Int64
    /// Whether the last of them are in a frame that is not counted, as in stream version 7 if the last frame is almost full.
    package let isFollowed: Bool

    /// The delay of the synthesis filter in samples.
    private static let synthesisDelay: Int64 = 481
    private static let frameLength: Int64 = 1152

    /// Reads the header; `nil` if there is none that is valid and declares its length.
    package init?(_ source: any ByteSource) throws {
        guard !source.isEndless else { return nil }
        let start = try TagBytes.leading(source).end
        let bytes = SourceBytes(source)
        guard let mark = try bytes.read(at: start, 4) else { return nil }
        let found =
            mark == Array("MPCK".utf8)
            ? try Self.eighth(bytes, start + 4)
            : mark.starts(with: "MP+".utf8) && mark[3] & 15 == 7 ? try Self.seventh(bytes, start) : nil
        guard let found, found.samples > 0, found.delay < 1 << 40, found.samples < 1 << 40 else { return nil }
        (delay, samples, isFollowed) = (found.delay, found.samples, found.isFollowed)
    }

    /// Stream version 7: the number of frames, and the number of valid samples in the last one.
    private static func seventh(
        _ bytes: SourceBytes, _ start: Int64
    ) throws -> (delay: Int64, samples: Int64, isFollowed: Bool)? {
        guard let frames = try bytes.little(at: start + 4, 4), let last = try bytes.little(at: start + 20, 4) else {
            return nil
        }
        let decoded = frames * frameLength
        guard last >> 31 == 1 else { return (synthesisDelay, decoded - synthesisDelay, false) }
        let length = last >> 20 & 0x7FF
        guard length <= frameLength else { return nil }
        let declared = decoded - (length == 0 ? 0 : frameLength - length)
        return (synthesisDelay, declared, declared > decoded - synthesisDelay)
    }

    /// Stream version 8: a packet with the number of samples, and the number of samples before the first audible one.
    private static func eighth(
        _ bytes: SourceBytes, _ start: Int64
    ) throws -> (delay: Int64, samples: Int64, isFollowed: Bool)? {
        var place = start
        for _ in 0..<maxPackets {
            guard let name = try bytes.text(at: place, 2), let size = try number(bytes, place + 2), size.value > 2
            else {
                return nil
            }
            if name == "SH" {
                // After a checksum of four bytes and the version.
                guard let count = try number(bytes, size.end + 5), let silence = try number(bytes, count.end),
                    count.value > silence.value
                else { return nil }
                return (synthesisDelay + silence.value, count.value - silence.value, false)
            }
            place = place.adding(size.value)
        }
        return nil
    }

    /// The source without the reference to its seek table (stream version 8), which nothing reads. libav does not open a source whose
    /// table it takes for too large, as in short ones, or cannot find, as in one that is cut (`mpc8_handle_chunk` in
    /// libavformat/mpc8.c, since version 61).
    package static func withoutSeekTable(_ source: any ByteSource) throws -> any ByteSource {
        guard !source.isEndless else { return source }
        let start = try TagBytes.leading(source).end
        let bytes = SourceBytes(source)
        guard try bytes.text(at: start, 4) == "MPCK" else { return source }
        var place = start + 4
        var corrections: [Int64: UInt8] = [:]
        for _ in 0..<maxPackets {
            guard let name = try bytes.text(at: place, 2), name != "AP", let size = try number(bytes, place + 2),
                size.value > 2
            else { break }
            // Decoders ignore packets with unknown names.
            if name == "SO" { (corrections[place], corrections[place + 1]) = (0x58, 0x58) }
            place = place.adding(size.value)
        }
        return corrections.isEmpty ? source : CorrectedSource(source, corrections)
    }

    /// The most packets that are read before the audio.
    private static let maxPackets = 64

    /// A number of seven bits a byte, and its end offset.
    private static func number(_ bytes: SourceBytes, _ start: Int64) throws -> (value: Int64, end: Int64)? {
        var value: Int64 = 0
        for place in start..<start + 8 {
            guard let byte = try bytes.big(at: place, 1) else { return nil }
            value = value << 7 | byte & 0x7F
            if byte & 0x80 == 0 { return (value, place + 1) }
        }
        return nil
    }
}
