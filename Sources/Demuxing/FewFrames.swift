import Bytes
import CLibav
import Containers

/// Detects files with too few frames for libav's probe. Each frame must be complete, and the file must contain nothing else.
enum FewFrames {
    /// The container, if the bytes between the tags consist of frames only.
    static func container(_ source: any ByteSource) throws -> Container? {
        guard let bytes = try content(source) else { return nil }
        return bytes.withUnsafeBufferPointer { bytes in
            if isFilled(bytes, step: dolby) { return isEnhanced(bytes) ? .eac3 : .ac3 }
            if isFilled(bytes, step: transport) { return .adts }
            if isFilled(bytes, step: layered), isBeginning(bytes) { return .mp3 }
            if isMultiplex(bytes) { return .mpegTransport }
            return isTelephony(bytes) ? .gsm : nil
        }
    }

    /// The bytes between the tags of a file, if they are few.
    private static func content(_ source: any ByteSource) throws -> [UInt8]? {
        guard !source.isEndless else { return nil }
        let start = try TagBytes.leading(source).end
        let end = try TrailingTags.start(source)
        guard (1...maxBytes).contains(end - start) else { return nil }
        return try SourceBytes(source).read(at: start, Int(end - start))
    }

    /// More than the number of frames that libav's probe requires can take.
    private static let maxBytes: Int64 = 1 << 16

    /// Whether the bytes consist of consecutive frames. `step` returns a frame's length, and the header bits that are constant
    /// in a stream.
    private static func isFilled(
        _ bytes: UnsafeBufferPointer<UInt8>, step: (UnsafeBufferPointer<UInt8>) -> (length: Int, kind: UInt32)?
    ) -> Bool {
        var (place, kind): (Int, UInt32?) = (0, nil)
        while place < bytes.count {
            guard let frame = step(UnsafeBufferPointer(rebasing: bytes[place...])), frame.length <= bytes.count - place,
                kind ?? frame.kind == frame.kind
            else { return false }
            kind = frame.kind
            place += frame.length
        }
        return true
    }

    /// AC-3 and E-AC-3, whose frames end with a CRC of their contents.
    private static func dolby(_ bytes: UnsafeBufferPointer<UInt8>) -> (length: Int, kind: UInt32)? {
        guard bytes.count > 6, let length = FrameHeader.length(AV_CODEC_ID_AC3, bytes), length <= bytes.count else {
            return nil
        }
        let summed = UnsafeBufferPointer(rebasing: bytes[2..<length])
        guard av_crc(av_crc_get_table(AV_CRC_16_ANSI), 0, summed.baseAddress, summed.count) == 0 else { return nil }
        return (length, isEnhanced(bytes) ? 1 : 0)
    }

    /// Whether the version is one of E-AC-3 (ETSI TS 102 366, E.1.3.1.6).
    private static func isEnhanced(_ bytes: UnsafeBufferPointer<UInt8>) -> Bool { bytes[5] >> 3 > 10 }

    /// AAC in ADTS without CRC. The bits that a CRC covers can only be determined by a decoder.
    private static func transport(_ bytes: UnsafeBufferPointer<UInt8>) -> (length: Int, kind: UInt32)? {
        guard let length = FrameHeader.adtsLength(bytes), length > 7, bytes[1] & 1 == 1, bytes[6] & 3 == 0,
            bytes[2] >> 2 & 15 < 13
        else { return nil }
        return (length, UInt32(bytes[1]) << 8 | UInt32(bytes[2] & 0xFC))
    }

    /// MPEG audio of any layer.
    private static func layered(_ bytes: UnsafeBufferPointer<UInt8>) -> (length: Int, kind: UInt32)? {
        guard let length = FrameHeader.length(AV_CODEC_ID_MP3, bytes), length <= bytes.count,
            // The reserved value of emphasis.
            bytes[3] & 3 != 2, LayerSum.isRight(UnsafeBufferPointer(rebasing: bytes[..<length]))
        else { return nil }
        return (length, UInt32(bytes[1] & 0xFE) << 8 | UInt32(bytes[2] & 0x0C))
    }

    /// Whether the first layer III frame needs no data of an earlier frame: `main_data_begin` (ISO 11172-3, 2.4.1.7) is zero.
    private static func isBeginning(_ bytes: UnsafeBufferPointer<UInt8>) -> Bool {
        guard bytes.count > 8, bytes[1] >> 1 & 3 == 1 else { return bytes.count > 8 }
        let place = bytes[1] & 1 == 0 ? 6 : 4
        return bytes[place] == 0 && (bytes[1] & 8 == 0 || bytes[place + 1] & 0x80 == 0)
    }

    /// MPEG-2 transport stream (ISO 13818-1, 2.4.3.2), with a valid CRC of the program association table.
    private static func isMultiplex(_ bytes: UnsafeBufferPointer<UInt8>) -> Bool {
        let size = 188
        guard bytes.count % size == 0 else { return false }
        let starts = stride(from: 0, to: bytes.count, by: size)
        guard starts.allSatisfy({ bytes[$0] == 0x47 && bytes[$0 + 1] & 0x80 == 0 }) else { return false }
        return starts.contains { start in
            let packet = UnsafeBufferPointer(rebasing: bytes[start..<start + size])
            // The first packet of a section, with PID 0 and without an adaptation field.
            guard packet[1] & 0x5F == 0x40, packet[2] == 0, packet[3] & 0x30 == 0x10, packet[4] < 100 else {
                return false
            }
            let begin = 5 + Int(packet[4])
            let end = begin + 3 + (Int(packet[begin + 1] & 15) << 8 | Int(packet[begin + 2]))
            guard packet[begin] == 0, begin + 12 <= end, end <= size else { return false }
            let section = UnsafeBufferPointer(rebasing: packet[begin..<end])
            return av_crc(av_crc_get_table(AV_CRC_32_IEEE), .max, section.baseAddress, section.count) == 0
        }
    }

    /// GSM 06.10, whose frames have a signature of only four bits, which some letters match as well.
    private static func isTelephony(_ bytes: UnsafeBufferPointer<UInt8>) -> Bool {
        guard bytes.count % 33 == 0, !isText(bytes) else { return false }
        return stride(from: 0, to: bytes.count, by: 33).allSatisfy { bytes[$0] & 0xF0 == 0xD0 }
    }

    /// Whether the bytes are UTF-8, possibly truncated.
    private static func isText(_ bytes: UnsafeBufferPointer<UInt8>) -> Bool {
        (0...3).contains { String(validating: bytes.dropLast($0), as: UTF8.self) != nil }
    }
}
