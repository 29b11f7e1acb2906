/// A codec of sound that a container or the headers of frames have particulars for.
package enum CodecID: Sendable {
    case flac, opus, speex, trueAudio, vorbis
    /// Numbers as they are, of any width and order.
    case pcm
    /// Floats or integers of one bit.
    case dsd
    /// Any other.
    case other
}
