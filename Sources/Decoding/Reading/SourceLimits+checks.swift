package import Bytes
import CLibav
package import Demuxing
import Libav
import MediaTypes

/// What of a source is held against its limits, and what is said where it is over one.
extension SourceLimits {
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
                "the source claims \(shape.channels) channels at \(shape.rate) Hz, which no recording has")
        }
        guard shape.channels <= channels else {
            throw MediaError(
                .tooLarge, "decode the audio",
                "the source has \(shape.channels) channels, over the limit of \(channels); see RESPOOL_MAX_CHANNELS")
        }
        guard shape.rate <= sampleRate else {
            throw MediaError(
                .tooLarge, "decode the audio",
                "the source has \(shape.rate) Hz, over the limit of \(sampleRate); see RESPOOL_MAX_SAMPLE_RATE")
        }
    }

    /// Fails if a source of so many samples is too long.
    package func check(samples: Int64, rate: Int) throws(MediaError) {
        guard samples > Int64(seconds).multipliedOrMost(by: Int64(rate)) else { return }
        throw MediaError(
            .tooLong, "read the source",
            "the source has more than \(seconds) s of sound, which is the limit; see RESPOOL_MAX_DURATION")
    }

    /// Fails if a source of so many bytes became too many of decoded sound.
    func check(decoded bytes: Int64, of source: any ByteSource) throws(MediaError) {
        guard !source.isEndless, bytes > source.length.multipliedOrMost(by: Int64(expansion)) else { return }
        throw MediaError(
            .tooLarge, "decode the audio",
            "the source swells to more than \(expansion) times its \(source.length) bytes; see RESPOOL_MAX_EXPANSION")
    }

    /// Fails if so many packets came to too little sound; the first seconds may be any.
    func check(packets: Int64, samples: Int64, rate: Int) throws(MediaError) {
        let whole = samples / Int64(max(rate, 1)) + Self.slackSeconds
        guard packets > whole.multipliedOrMost(by: Int64(packetRate)) else { return }
        throw MediaError(
            .tooLarge, "read the source",
            "the source has more than \(packetRate) packets for each second of its sound; see RESPOOL_MAX_PACKET_RATE")
    }

    /// Seconds.
    private static let slackSeconds: Int64 = 10
}

extension Int64 {
    /// The product, or the largest number if it is larger.
    fileprivate func multipliedOrMost(by other: Int64) -> Int64 {
        let (product, overflow) = multipliedReportingOverflow(by: other)
        return overflow ? .max : product
    }
}
