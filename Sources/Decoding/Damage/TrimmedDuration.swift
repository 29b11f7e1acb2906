package import Bytes
import CLibav
import Containers
package import Demuxing
package import Libav
package import MediaTypes

/// The audible duration of a track whose container includes encoder delay or padding.
package enum TrimmedDuration {
    /// The duration, if it can be determined without reading the whole source; otherwise `nil`.
    package static func of(
        _ track: AudioTrack, _ source: any ByteSource, _ demuxer: borrowing Demuxer
    ) throws(MediaError) -> MediaTime? {
        guard track.rate > 0 else { return nil }
        if let audible = demuxer.layerPadding?.audible { return MediaTime(sample: audible, rate: track.rate) }
        guard !demuxer.durationIsEstimate else { return nil }
        let declared = DeclaredLength(source, demuxer, track)
        if let audible = declared.audible { return MediaTime(sample: audible, rate: track.rate) }
        guard let samples = track.duration.flatMap({ track.samples($0) }) else { return nil }
        switch demuxer.descriptor.padding {
        case .granules:
            return samples > track.countedDelay
                ? MediaTime(sample: samples - track.countedDelay, rate: track.rate) : nil
        case .lameTag, .libav, .codecHeader, .editList, .packetTable, .musepackHeader, .factChunk, .dataSize: return nil
        }
    }
}
