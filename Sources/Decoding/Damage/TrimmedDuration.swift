package import Bytes
import CLibav
import Containers
package import Demuxing
package import Libav
package import MediaTypes

/// The audible duration of a track whose container includes encoder delay or padding.
package enum TrimmedDuration {
    /// The duration, if it can be determined without reading the whole source; otherwise `nil`. It may read a packet.
    package static func of(
        _ track: AudioTrack, _ source: any ByteSource, _ demuxer: borrowing Demuxer
    ) throws(MediaError) -> MediaTime? {
        guard track.rate > 0, !demuxer.durationIsEstimate else { return nil }
        let declared = DeclaredLength(source, demuxer, track)
        if let audible = declared.audible { return MediaTime(sample: audible, rate: track.rate) }
        guard let samples = track.duration.flatMap({ track.samples($0) }) else { return nil }
        switch demuxer.descriptor.padding {
        case .granules:
            return samples > track.countedDelay
                ? MediaTime(sample: samples - track.countedDelay, rate: track.rate) : nil
        case .lameTag: break
        case .libav, .codecHeader, .editList, .packetTable, .musepackHeader, .dataSize: return nil
        }
        let packet = try Packet()
        repeat {
            // An attached picture precedes the audio.
            packet.clear()
            guard try demuxer.next(into: packet) else { return nil }
        } while packet.streamIndex != track.index
        guard packet.offset > 0,
            let length = FrameHeader.samples(track.codec, packet.bytes, whole: false)
        else { return nil }
        do {
            guard let tag = try LameTag(source, before: packet.offset, samples: Int64(length)),
                tag.padding.lowerBound > tag.delay
            else { return nil }
            return MediaTime(sample: tag.padding.lowerBound - tag.delay, rate: track.rate)
        } catch { throw .unreadable(error) }
    }
}
