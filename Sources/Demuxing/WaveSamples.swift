import Bytes
import CLibav
import Containers

/// What the samples of a WAV file really are.
enum WaveSamples {
    /// The bytes in which libav searches for frames of other codecs: 32 packets.
    private static let searched: Int64 = 131_072

    /// Whether samples of 16 bits may be frames of another codec, as of DTS on a CD. libav's search for frames of any codec takes
    /// longer than the conversion of a few seconds.
    static func mayBeFrames(_ source: any ByteSource) throws -> Bool {
        let bytes = SourceBytes(source)
        guard let start = try start(source, bytes),
            let samples = try bytes.read(at: start, Int(min(max(source.length - start, 0), searched)))
        else { return true }
        return samples.withUnsafeBufferPointer { FrameSearch(bytes: $0).isSuccessful }
    }

    /// The offset of the first sample; `nil` if there is no data chunk, or several, of which libav chooses one.
    private static func start(_ source: any ByteSource, _ bytes: SourceBytes) throws -> Int64? {
        let bodies =
            try bytes.text(at: 0, 4) == "riff"
            ? Extent.wave64Bodies(bytes) : ChunkList(source).entries.filter { $0.name == "data" }.map(\.body)
        return bodies.count == 1 ? bodies[0] : nil
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
