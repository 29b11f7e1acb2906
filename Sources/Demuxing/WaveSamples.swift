package import Bytes
package import CLibav
import Containers
import Libav

/// What the samples of a WAV file really are.
package enum WaveSamples {
    /// The bytes in which libav searches for frames of other codecs: 32 packets.
    private static let searched: Int64 = 131_072

    /// Whether samples of 16 bits may be frames of another codec, as of DTS on a CD. libav's search for frames of any codec takes
    /// longer than the conversion of a few seconds.
    static func mayBeFrames(_ source: any ByteSource) throws -> Bool {
        let bytes = SourceBytes(source)
        guard let start = try data(source)?.body,
            let samples = try bytes.read(at: start, Int(min(max(source.length - start, 0), searched)))
        else { return true }
        return samples.withUnsafeBufferPointer { FrameSearch(bytes: $0).isSuccessful }
    }

    /// Whether the samples are compressed by WavPack before version 4, which puts its header behind that of the WAV file.
    static func isOldWavPack(_ source: any ByteSource) throws -> Bool {
        let bytes = SourceBytes(source)
        guard let start = try data(source)?.body, try bytes.text(at: start, 4) == "wvpk" else { return false }
        return try bytes.little(at: start + 8, 2).map { (1...3).contains($0) } ?? false
    }

    /// The offset and size of the samples; `nil` if there is no data chunk, or several, of which libav chooses one.
    private static func data(_ source: any ByteSource) throws -> (body: Int64, size: Int64)? {
        let bytes = SourceBytes(source)
        let bodies =
            try bytes.text(at: 0, 4) == "riff"
            ? Extent.wave64Bodies(bytes)
            : ChunkList(source).entries.filter { $0.name == "data" }.map { (body: $0.body, size: $0.size) }
        return bodies.count == 1 ? bodies[0] : nil
    }

    /// The samples without the padding of the last block, if `fact` declares them (`dwSampleLength` in the RIFF specification),
    /// which libav returns as the stream's duration; `nil` if that does not end in the last block.
    package static func declaredCount(
        _ source: any ByteSource, _ stream: UnsafeMutablePointer<AVStream>
    ) throws -> Int64? {
        let track = AudioTrack(stream)
        guard paddedCodecs.contains(track.codecID), track.countsSamples, let count = track.duration,
            let size = try data(source)?.size
        else { return nil }
        let parameters = stream.pointee.codecpar!
        let block = Int64(parameters.pointee.block_align)
        guard block > 1, (1...source.length).contains(size) else { return nil }
        let samples = Int64(av_get_audio_frame_duration2(parameters, CInt(block)))
        // A byte may pad an odd number of blocks.
        let blocks = size / block + (size % block > 1 ? 1 : 0)
        return (blocks - 1) * samples < count && count < blocks * samples ? count : nil
    }

    /// The codecs whose blocks all have the same number of samples.
    private static let paddedCodecs: Set<CodecID> = [.adpcm, .gsmMicrosoft, .imaWave, .microsoft]

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
