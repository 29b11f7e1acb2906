package import Bytes
import CLibav
package import Containers
package import Libav
package import MediaTypes

extension Demuxer {
    /// The audio track of a stream index, or the first one.
    package borrowing func track(_ index: Int?) throws(MediaError) -> AudioTrack {
        guard let track = tracks.first(where: { $0.index == index ?? $0.index }) else {
            throw MediaError(.noAudio, "open the source", "the selected audio track does not exist in the source")
        }
        return track
    }

    /// The codec's name for messages: as the header writes it, if libav does not know it.
    package borrowing func codecLabel(_ track: AudioTrack) throws(MediaError) -> String {
        do {
            // Whether libav has a name for these depends on its release.
            if Container(demuxer: formatName) == .mpegTransport, CodecID(track.codec) == nil, !bytes.isEndless,
                let name = try DeclaredCodec.transportCodec(bytes)
            {
                return name
            }
            if let label = track.codecLabel { return label }
            return try DeclaredCodec.name(bytes, Container(demuxer: formatName) ?? .generic) ?? "unknown"
        } catch { throw .unreadable(error) }
    }

    /// Whether the container's header declares that a track is encrypted: ASF by objects, and Matroska by encodings, which libav
    /// makes tags, and MP4 by the type of the sample entry, which libav replaces by that of the audio.
    package borrowing func declaresEncryption(_ track: AudioTrack) throws(MediaError) -> Bool {
        switch Container(demuxer: formatName) {
        case .asf:
            let names = ["ASF_Protection_Type", "encryption"]
            return names.contains { av_dict_get(context.pointee.metadata, $0, nil, 0) != nil }
        case .matroska: return av_dict_get(stream(track.index).pointee.metadata, "enc_key_id", nil, 0) != nil
        case .mp4:
            guard !bytes.isEndless else { return false }
            do {
                return try ["enca", "drms"].contains(DeclaredCodec.sampleEntry(bytes, track: track.index))
            } catch { throw .unreadable(error) }
        default: return false
        }
    }

    /// Returns whether the bytes of a track were encrypted for the container. Throws if they were compressed for it in a way that
    /// libav leaves as it is.
    package borrowing func hasEncryptedContent(_ track: AudioTrack) throws(MediaError) -> Bool {
        let encodings = try encodings(track)
        if encodings.contains(.encryption) { return true }
        let name: String
        switch encodings.first {
        case nil, .encryption: return false
        case _ where encodings.count > 1: name = "several encodings"
        case .compression(let number):
            // zlib, and the others that libav reads if it was built with them; headers that are left out.
            guard !(0...3).contains(number) else { return false }
            name = "the algorithm \(number) (ContentCompAlgo)"
        }
        throw MediaError(
            .unsupportedFormat, "open the source",
            "the audio is compressed in its container with \(name), which is not supported")
    }

    private borrowing func encodings(_ track: AudioTrack) throws(MediaError) -> [DeclaredCodec.ContentEncoding] {
        guard Container(demuxer: formatName) == .matroska, !bytes.isEndless,
            let number = tracks.firstIndex(where: { $0.index == track.index })
        else { return [] }
        do { return try DeclaredCodec.encodings(bytes, audioTrack: number) } catch { throw .unreadable(error) }
    }

    /// Throws if a source in which libav detects no audio declares a codec that libav does not know.
    borrowing func refuseUndetectedAudio() throws(MediaError) {
        guard Container(demuxer: formatName) == .mpegTransport, !bytes.isEndless else { return }
        do {
            guard let codec = try DeclaredCodec.transportCodec(bytes) else { return }
            throw MediaError(
                .unsupportedFormat, "open the source", "the codec of the audio is \(codec), which is not supported")
        } catch let error as MediaError { throw error } catch { throw .unreadable(error) }
    }

    /// Samples that the decoder of Opus drops by itself, from the identification header (RFC 7845 section 5.1).
    package func preskip(_ track: AudioTrack) -> Int64 {
        stream(track.index).pointee.codecpar.pointee.preskip
    }

    /// The samples that a decoder returns of a delay that the container declares: the decoder of Opus drops those of the
    /// identification header by itself, and the first packet of Vorbis has none.
    package func undecoded(_ delay: MediaTime, _ track: AudioTrack) -> Int64 {
        let samples = delay.nearestSample(rate: track.rate)
        let dropped = track.codec == AV_CODEC_ID_VORBIS ? firstPacket(track) : preskip(track)
        guard dropped > 0 else { return max(samples, 0) }
        // A unit of the container may be longer than a sample.
        let unit = Int64(track.rate) * Int64(track.timeBase.num) / Int64(max(track.timeBase.den, 1))
        return samples - dropped > max(unit, 1) ? samples - dropped : 0
    }

    /// The duration of a track's first packet in samples by the container's index; zero if it has none.
    private func firstPacket(_ track: AudioTrack) -> Int64 {
        guard let first = avformat_index_get_entry(stream(track.index), 0)?.pointee.timestamp,
            let second = avformat_index_get_entry(stream(track.index), 1)?.pointee.timestamp, second > first
        else { return 0 }
        return track.samples(second.subtractingReportingOverflow(first).partialValue) ?? 0
    }

    /// The tag `iTunSMPB` of the file.
    package var gaplessTag: GaplessTag? {
        guard let entry = av_dict_get(context.pointee.metadata, "iTunSMPB", nil, 0) else { return nil }
        return GaplessTag(String(cString: entry.pointee.value))
    }

    /// Sets the rate that a track's decoder returns, which its header may not declare.
    package borrowing func correct(rate: Int, of track: Int) { hidden[track]?.rate = rate }
}

extension AVCodecParameters {
    /// Samples at 48 kHz that the Opus identification header tells a decoder to drop; zero if there is none.
    var preskip: Int64 {
        guard codec_id == AV_CODEC_ID_OPUS, extradata_size >= 19 else { return 0 }
        return Int64(extradata[10]) | Int64(extradata[11]) << 8
    }
}
