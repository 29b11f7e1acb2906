import Encoders
import Libav
import MediaTypes

// The names and options of libav's muxers, from the tables.
extension AudioFormat {
    /// The options of the muxer.
    func muxerOptions(rate: Int) -> [OutputContainer.Option] {
        guard container.gapless == .editList else { return container.options }
        // The edit list uses the movie's timescale. With the default of 1000, it would be rounded to milliseconds.
        return [("movflags", "+faststart"), ("movie_timescale", String(rate))] + container.options
    }
}

extension EncodingSettings {
    /// The name of libav's muxer; `nil` if the format is not written by one.
    var muxerName: String? {
        switch format.container.muxer {
        case .named(let name): name
        case .ofSamples: sampleFormat!.libavName(format.byteOrder)
        case .none: nil
        }
    }
}
