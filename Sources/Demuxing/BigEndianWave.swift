import CLibav

/// Corrects big-endian WAV files, whose samples libav decodes as little-endian.
enum BigEndianWave {
    /// Changes the codec of a stream to its big-endian variant.
    static func correct(_ stream: UnsafeMutablePointer<AVStream>) {
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
