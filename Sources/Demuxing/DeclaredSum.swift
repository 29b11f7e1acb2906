package import Bytes
package import CLibav

/// The MD5 that a source declares for its samples, and their layout for it: interleaved and little-endian.
package struct DeclaredSum {
    /// The 16 bytes of the digest.
    package let md5: [UInt8]
    /// Samples of each channel that the MD5 covers.
    package let samples: Int64
    /// Bits of a sample, stored in whole bytes.
    package let bits: Int
    /// Whether 8-bit samples are unsigned, as in WAV.
    package var isUnsigned = false
    var isFloat = false

    /// Reads a native FLAC file's MD5. In other containers, a cut copy keeps the MD5 of the whole.
    package init?(_ header: FlacHeader) {
        guard let md5 = header.digest, let samples = header.samples else { return nil }
        (self.md5, self.samples, bits) = (md5, samples, header.bits)
    }

    /// Reads the MD5 from the last block of a WavPack file, which has no audio; `nil` if there is none, or if audio data is
    /// stored elsewhere.
    package init?(wavPack source: any ByteSource) throws {
        let bytes = SourceBytes(source)
        guard try bytes.text(at: 0, 4) == "wvpk", let flags = try bytes.little(at: 24, 4),
            let high = try bytes.big(at: 11, 1), let low = try bytes.little(at: 12, 4), low != 0xFFFF_FFFF,
            // Hybrid files store a part of each sample in another file, and DSD is not PCM.
            flags & 0x8000_0008 == 0, let md5 = try Self.wavPackSum(bytes, source.length)
        else { return nil }
        self.md5 = md5
        // All values of the lower half except the maximum are used (WavPack 5 file format).
        samples = high << 32 + low - high
        bits = Int(flags & 3 + 1) * 8
        (isUnsigned, isFloat) = (bits == 8, flags & 0x80 != 0)
    }

    private static func wavPackSum(_ bytes: SourceBytes, _ length: Int64) throws -> [UInt8]? {
        let count = min(length, 4096)
        guard let tail = try bytes.read(at: length - count, Int(count)) else { return nil }
        let name = Array("wvpk".utf8)
        guard let start = tail.indices.last(where: { tail[$0...].starts(with: name) }), start + 32 <= tail.count,
            tail[start + 20..<start + 24].allSatisfy({ $0 == 0 })
        else { return nil }
        var place = start + 32
        while place + 2 <= tail.count {
            let (kind, isLarge) = (tail[place], tail[place] & 0x80 != 0)
            let size = 2 * Int(tail[place + 1])
            // The MD5 of samples in WAV's layout. Other layouts use another ID.
            if kind == 0x26, size == 16, place + 18 <= tail.count { return Array(tail[place + 2..<place + 18]) }
            guard !isLarge else { return nil }
            place += 2 + size
        }
        return nil
    }

    /// The formats in which libav may return the samples.
    package var formats: [AVSampleFormat] {
        if isFloat { return [AV_SAMPLE_FMT_FLTP, AV_SAMPLE_FMT_FLT] }
        return bits <= 16
            ? [AV_SAMPLE_FMT_S16, AV_SAMPLE_FMT_S16P] : [AV_SAMPLE_FMT_S32, AV_SAMPLE_FMT_S32P]
    }
}
