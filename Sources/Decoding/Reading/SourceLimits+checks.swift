package import Bytes
import CLibav
package import Demuxing
import Libav
import MediaTypes

/// Checks a source against its limits, and makes the errors.
extension SourceLimits {
    /// Throws if the container has too many streams.
    package func check(_ demuxer: borrowing Demuxer) throws(MediaError) {
        let count = Int(demuxer.context.pointee.nb_streams)
        guard count > tracks else { return }
        throw MediaError(
            .tooLarge, "open the source",
            "the source has \(count) tracks, over the limit of \(tracks); see RESPOOL_MAX_TRACKS")
    }

    func check(_ shape: SampleShape) throws(MediaError) {
        guard shape.rate > 0, shape.channels > 0 else {
            throw MediaError(
                .corruptMedia, "decode the audio",
                "the source declares \(shape.channels) channels at \(shape.rate) Hz, which is not plausible")
        }
        guard shape.channels <= channels else {
            throw MediaError(
                .tooLarge, "decode the audio",
                "the source has \(shape.channels) channels, over the limit of \(channels); see RESPOOL_MAX_CHANNELS")
        }
        guard shape.rate <= sampleRate else {
            throw MediaError(
                .tooLarge, "decode the audio",
                "the source's sample rate is \(shape.rate) Hz, over the limit of \(sampleRate); see RESPOOL_MAX_SAMPLE_RATE"
            )
        }
    }

    /// Throws if the source is too long.
    package func check(samples: Int64, rate: Int) throws(MediaError) {
        guard samples > Int64(seconds).multipliedOrMost(by: Int64(rate)) else { return }
        throw MediaError(
            .tooLong, "read the source",
            "the source has more than \(seconds) s of audio, the limit; see RESPOOL_MAX_DURATION")
    }

    /// Throws if the decoded audio is too large for the size of the source.
    func check(decoded bytes: Int64, of source: any ByteSource) throws(MediaError) {
        guard !source.isEndless, bytes > source.length.multipliedOrMost(by: Int64(expansion)) else { return }
        throw MediaError(
            .tooLarge, "decode the audio",
            "the source expands to more than \(expansion) times its \(source.length) bytes; see RESPOOL_MAX_EXPANSION")
    }

    /// Throws if too many packets contained too little audio. The first seconds are not checked.
    func check(packets: Int64, samples: Int64, rate: Int) throws(MediaError) {
        let whole = samples / Int64(max(rate, 1)) + Self.slackSeconds
        guard packets > whole.multipliedOrMost(by: Int64(packetRate)) else { return }
        throw MediaError(
            .tooLarge, "read the source",
            "the source has more than \(packetRate) packets per second; see RESPOOL_MAX_PACKET_RATE")
    }

    /// Seconds that are added to the audio before the check.
    private static let slackSeconds: Int64 = 10
}

extension Int64 {
    /// The product, saturated at the largest number.
    fileprivate func multipliedOrMost(by other: Int64) -> Int64 {
        let (product, overflow) = multipliedReportingOverflow(by: other)
        return overflow ? .max : product
    }
}
