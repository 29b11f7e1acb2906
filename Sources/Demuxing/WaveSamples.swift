import Bytes
import CLibav
import Glibc

/// What the samples of a WAV file really are.
enum WaveSamples {
    /// The bytes in which libav searches for frames of other codecs.
    private static let searched: Int64 = 131_072

    /// Whether samples of 16 bits may hide frames of DTS, as on a CD: a sync word of 14 or 16 bits in either byte order (ETSI TS
    /// 102 114 section 5.3). libav's search for frames of any codec takes longer than the conversion of a few seconds.
    static func mayBeDTS(_ source: any ByteSource) throws -> Bool {
        let bytes = try SourceBytes(source).read(at: 0, Int(min(source.length, searched))) ?? []
        return bytes.withUnsafeBytes { bytes in
            // Each sync word has one of these bytes in its third or fourth place.
            [0x80, 0xe8].contains {
                places(of: $0, in: bytes).contains { isSync(bytes, $0 - 2) || isSync(bytes, $0 - 3) }
            }
        }
    }

    /// Where a byte occurs, found by `memchr`: without optimization, a loop in Swift takes a hundred times as long.
    private static func places(of byte: CInt, in bytes: UnsafeRawBufferPointer) -> some Sequence<Int> {
        sequence(state: 0) { (next: inout Int) -> Int? in
            guard next < bytes.count, let found = memchr(bytes.baseAddress! + next, byte, bytes.count - next) else {
                return nil
            }
            let place = UnsafeRawPointer(found) - bytes.baseAddress!
            next = place + 1
            return place
        }
    }

    private static func isSync(_ bytes: UnsafeRawBufferPointer, _ offset: Int) -> Bool {
        guard offset >= 0, offset + 4 <= bytes.count else { return false }
        return switch UInt32(bigEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt32.self)) {
        case 0x7ffe_8001, 0xfe7f_0180, 0x1fff_e800, 0xff1f_00e8: true
        default: false
        }
    }

    /// Changes the codec of a big-endian stream, whose samples libav would decode as little-endian.
    static func correctByteOrder(_ stream: UnsafeMutablePointer<AVStream>) {
        let parameters = stream.pointee.codecpar!
        switch parameters.pointee.codec_id {
        case AV_CODEC_ID_PCM_S16LE: parameters.pointee.codec_id = AV_CODEC_ID_PCM_S16BE
        case AV_CODEC_ID_PCM_S24LE: parameters.pointee.codec_id = AV_CODEC_ID_PCM_S24BE
        case AV_CODEC_ID_PCM_S32LE: parameters.pointee.codec_id = AV_CODEC_ID_PCM_S32BE
        case AV_CODEC_ID_PCM_S64LE: parameters.pointee.codec_id = AV_CODEC_ID_PCM_S64BE
        case AV_CODEC_ID_PCM_F32LE: parameters.pointee.codec_id = AV_CODEC_ID_PCM_F32BE
        case AV_CODEC_ID_PCM_F64LE: parameters.pointee.codec_id = AV_CODEC_ID_PCM_F64BE
        default: break
        }
    }
}
