import CLibav
import Glibc

/// Searches bytes for frames of the codecs that libav detects in the place of samples.
///
/// The probes of libavformat 59 accept some consecutive frames at the start, or many elsewhere, and of some codecs sync words. What
/// they accept is found here in a hundredth of their time; what is found here, they may refuse.
struct FrameSearch {
    let bytes: UnsafeBufferPointer<UInt8>

    /// What `aacdec.c` and `loasdec.c` require at the start and elsewhere; `ac3dec.c` and `mp3dec.c` require more.
    private static let (leastAtStart, leastElsewhere) = (3, 101)

    /// Whether the bytes may be frames.
    var isSuccessful: Bool {
        bytes.starts(with: "ID3".utf8) || hasSyncWord || hasFramesAtStart || hasFramesElsewhere
    }

    // MARK: Sync words

    /// Each sync word has one of these bytes in its third or fourth place.
    private var hasSyncWord: Bool {
        [0x80, 0xE8, 0x25, 0xBA].contains { places(of: $0).contains { isSyncWord($0 - 2) || isSyncWord($0 - 3) } }
    }

    /// DTS in 16 or 14 bits in either byte order with the bits that follow, its extension substream (ETSI TS 102 114), and TrueHD.
    private func isSyncWord(_ offset: Int) -> Bool {
        guard offset >= 0, offset + 6 <= bytes.count else { return false }
        // Without optimization, generic loads take ten times as long as this.
        let pair = Int(bytes[offset]) << 8 | Int(bytes[offset + 1])
        guard
            pair == 0xF872 || pair == 0x7FFE || pair == 0xFE7F || pair == 0x1FFF || pair == 0xFF1F || pair == 0x6458
        else { return false }
        func number<Number: FixedWidthInteger>(at offset: Int) -> Number {
            Number(bigEndian: UnsafeRawBufferPointer(bytes).loadUnaligned(fromByteOffset: offset, as: Number.self))
        }
        let (word, next): (UInt32, UInt16) = (number(at: offset), number(at: offset + 4))
        if word == 0xF872_6FBA { return true }
        // A word of DTS is where a sample is. Elsewhere, quiet samples have these bytes too.
        guard offset.isMultiple(of: 2) else { return false }
        return switch word {
        case 0x7FFE_8001: next & 0xFC00 == 0xFC00
        case 0xFE7F_0180: next & 0x00FC == 0x00FC
        case 0x1FFF_E800: next & 0xFFF0 == 0x07F0
        case 0xFF1F_00E8: next & 0xF0FF == 0xF007
        default: word == 0x6458_2025
        }
    }

    // MARK: Headers that contain the length of their frame

    private enum Framing: CaseIterable {
        case mpeg, adts, loas, dolby, swappedDolby

        var firstByte: UInt8 {
            switch self {
            case .mpeg, .adts: 0xFF
            case .loas: 0x56
            case .dolby: 0x0B
            case .swappedDolby: 0x77
            }
        }

        /// The bits of the second byte that all frames have in common.
        var secondByte: (mask: UInt8, bits: UInt8) {
            switch self {
            case .mpeg, .loas: (0xE0, 0xE0)
            case .adts: (0xF6, 0xF0)
            case .dolby: (0xFF, 0x77)
            case .swappedDolby: (0xFF, 0x0B)
            }
        }

        /// The length of the frame that begins with the bytes; `nil` if there is none.
        func length(_ bytes: UnsafeBufferPointer<UInt8>) -> Int? {
            switch self {
            case .mpeg: return FrameHeader.length(AV_CODEC_ID_MP3, bytes)
            case .adts: return FrameHeader.adtsLength(bytes)
            case .loas:
                guard bytes.count >= 3 else { return nil }
                let length = Int(bytes[1] & 0x1F) << 8 | Int(bytes[2])
                return length >= 4 ? length + 3 : nil
            case .dolby: return FrameHeader.length(AV_CODEC_ID_AC3, bytes)
            case .swappedDolby:
                guard bytes.count >= 8 else { return nil }
                let swapped = (0..<8).map { bytes[$0 ^ 1] }
                return swapped.withUnsafeBufferPointer { FrameHeader.length(AV_CODEC_ID_AC3, $0) }
            }
        }
    }

    private var hasFramesAtStart: Bool {
        let first = bytes.firstIndex { $0 != 0 } ?? 0
        return Framing.allCases.contains { framing in
            [0, first].contains { hasFrames(Self.leastAtStart, framing, from: $0) }
        }
    }

    private var hasFramesElsewhere: Bool {
        Framing.allCases.contains { framing in
            let second = framing.secondByte
            return places(of: CInt(framing.firstByte)).contains { place in
                place + 1 < bytes.count && bytes[place + 1] & second.mask == second.bits
                    && hasFrames(Self.leastElsewhere, framing, from: place)
            }
        }
    }

    /// Whether at least so many frames follow each other.
    private func hasFrames(_ least: Int, _ framing: Framing, from start: Int) -> Bool {
        let second = framing.secondByte
        var (offset, count) = (start, 0)
        while count < least {
            // A block of this length may precede a frame (`ac3_eac3_probe`).
            if framing == .dolby || framing == .swappedDolby, offset + 1 < bytes.count, bytes[offset] == 0x01,
                bytes[offset + 1] == 0x10
            {
                offset += 16
            }
            guard offset + 1 < bytes.count, bytes[offset] == framing.firstByte,
                bytes[offset + 1] & second.mask == second.bits,
                let length = framing.length(UnsafeBufferPointer(rebasing: bytes[offset...]))
            else { return false }
            offset += length
            count += 1
        }
        return true
    }

    /// Where a byte occurs, found by `memchr`: without optimization, a loop in Swift takes a hundred times as long.
    private func places(of byte: CInt) -> some Sequence<Int> {
        let bytes = bytes
        return sequence(state: 0) { (next: inout Int) -> Int? in
            guard next < bytes.count, let found = memchr(bytes.baseAddress! + next, byte, bytes.count - next) else {
                return nil
            }
            let place = UnsafeRawPointer(found) - UnsafeRawPointer(bytes.baseAddress!)
            next = place + 1
            return place
        }
    }
}
