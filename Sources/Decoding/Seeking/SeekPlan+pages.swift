import Bytes
import CLibav
import Containers
import Demuxing
import Libav

/// Seeks in containers with pages or clusters.
extension TrackDecoder {
    /// Seeks by Ogg granule positions, which count samples, if no page is missing and no second stream follows.
    func jumpByGranule(before sample: Int64, _ clock: inout SampleClock) throws(MediaError) -> Bool {
        guard track.countsSamples, let fed = fed.last, let time = packet.timestamp else { return true }
        // The difference between timestamps and the clock.
        let shift = time + Int64(fed) - clock.position
        let wanted = sample - Int64(track.rate)
        guard wanted > clock.position + Int64(track.rate) * 5 else { return true }
        let isUnbroken: Bool
        do { isUnbroken = try OggWalk.isUnbroken(source, upTo: sample + shift + Int64(track.rate) * 10) } catch {
            throw .unreadable(error)
        }
        guard isUnbroken else { return true }
        guard try demuxer.seek(to: wanted + shift, stream: track.index) else { return false }
        // The first packet is only needed as the predecessor of the second one, because the length of a Vorbis packet depends
        // on it.
        guard try readTrack(), lengths.samples(packet) != nil, try readTrack(), let landed = packet.timestamp else {
            return false
        }
        let position = landed - shift
        guard position > clock.position, position <= sample else { return false }
        clock.pass(position - clock.position)
        held.granuleShift = shift
        return try hold(&clock)
    }

    /// Seeks by the blocks in Matroska clusters. The cluster timestamps in milliseconds are only used to find the clusters.
    func jumpByCluster(before sample: Int64, _ clock: inout SampleClock) throws(MediaError) -> Bool {
        let fixed = fixedLength
        let declaresLength = [AV_CODEC_ID_OPUS, AV_CODEC_ID_FLAC, AV_CODEC_ID_VORBIS].contains(track.codec)
        guard demuxer.context.pointee.nb_streams == 1, declaresLength || fixed != nil, let start = packet.timestamp,
            sample > clock.position + Int64(track.rate) * 5
        else { return true }
        let before = packet.offset
        var lengths = PacketSamples(demuxer.stream(track.index))
        let found: MatroskaWalk?
        do {
            found = try MatroskaWalk(source, atMost: sample + fedSamples - clock.position) { bytes in
                fixed.map { Int($0) } ?? lengths.samples(beginning: bytes)
            }
        } catch { throw .unreadable(error) }
        // One cluster earlier, because the length of a Vorbis packet depends on the packet before it.
        guard let walk = found,
            let last = walk.clusters.lastIndex(where: { $0.samples - fedSamples <= sample - clock.position }), last > 1,
            walk.clusters[last].samples > fedSamples
        else { return true }
        guard try demuxer.seek(to: walk.clusters[last - 1].time, stream: track.index) else { return false }
        continuity.pass(time: walk.clusters[last].time - start, bytes: walk.clusters[last].offset - before)
        guard try readTrack(), packet.offset < walk.clusters[last].offset, self.lengths.samples(packet) != nil else {
            return false
        }
        while try readTrack() {
            if packet.offset == walk.clusters[last].offset {
                clock.pass(walk.clusters[last].samples - fedSamples)
                return try hold(&clock)
            }
            guard packet.offset < walk.clusters[last].offset, self.lengths.samples(packet) != nil else { return false }
        }
        return false
    }
}
