import CLibav
import Lifecycle
import MediaTypes

/// A second look at a finished file, through the eyes of a reader.
enum OutputCheck {
    /// Fails unless the file opens and is what the settings and the count of samples say.
    static func run(
        _ store: any ByteStore, _ settings: EncodingSettings, samples: Int64, stop: StopFlag
    ) throws(MediaError) {
        let demuxer: Demuxer
        // A few frames of MP3 could be chance, and are not recognised.
        let name = settings.format.name == "mp3" ? "mp3" : nil
        do { demuxer = try Demuxer.open(StoredSource(store), as: name, stop: stop) } catch {
            if case .cancelled = error.reason { throw error }
            throw failure("cannot be opened: \(error.sentence)")
        }
        guard let track = demuxer.tracks.first, demuxer.tracks.count == 1 else { throw failure("has no single track") }
        let codec = settings.codec.codecID(settings.sampleFormat, settings.format.byteOrder)
        guard track.codec == codec else { throw failure("holds codec \(track.codecName)") }
        let rate = settings.codec.name == "opus" ? 48_000 : settings.shape.rate
        guard track.rate == rate else { throw failure("has \(track.rate) Hz") }
        guard track.channels == settings.shape.channels else { throw failure("has \(track.channels) channels") }
        try checkLength(track, settings, samples)
        if let truncation = try Truncation.found(StoredSource(store), demuxer.formatName) {
            throw failure("is not whole: \(truncation.sentence)")
        }
    }

    private static func checkLength(
        _ track: AudioTrack, _ settings: EncodingSettings, _ samples: Int64
    ) throws(MediaError) {
        guard let length = track.duration.flatMap({ track.samples($0) }) else {
            throw failure("does not tell its length")
        }
        let told = length - track.countedDelay
        let expected = av_rescale_rnd(samples, Int64(track.rate), Int64(settings.shape.rate), AV_ROUND_UP)
        // Some headers count whole frames, the last one's padding included.
        let slack: Int64 =
            switch (settings.codec.name, settings.format.name) {
            case ("mp3", _): 4 * 1152
            case ("alac", "caf"): 4095
            default: 0
            }
        let right = expected...expected + slack
        guard right.contains(told) else { throw failure("tells of \(told) samples, not \(expected)") }
    }

    private static func failure(_ why: String) -> MediaError {
        MediaError(.internal, "check the output", "the finished file \(why)")
    }
}

extension AudioCodec {
    /// libav's number of the codec in a file.
    fileprivate func codecID(_ stored: SampleFormat?, _ order: SampleFormat.ByteOrder) -> AVCodecID? {
        avcodec_find_encoder_by_name(encoderName(stored, order))?.pointee.id
    }
}
