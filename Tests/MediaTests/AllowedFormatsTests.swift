import Bytes
import CLibav
import Containers
import Decoding
import Demuxing
import Libav
import Lifecycle
import MediaTypes
import TestSupport
import Testing

/// What may be opened and decoded at all.
@Suite(.failureReport, .timeLimit(.minutes(5))) struct AllowedFormatsTests {
    /// The names in the second column of a list that ffmpeg prints, behind flags that fit.
    private func listed(_ option: String, _ fits: @Sendable (Substring) -> Bool) async throws -> Set<String> {
        let outcome = try await WarmProgram.ffmpeg.run(["-hide_banner", option])
        let rows = outcome.output.split(separator: "\n").map { $0.split(separator: " ") }
        return Set(rows.filter { $0.count > 1 && fits($0[0]) }.map { String($0[1]) })
    }

    @Test func `audio and films are opened, of all that libav could open`() async throws {
        let all = try await listed("-demuxers") { $0 == "D" }
        let allowed = all.filter { Container(demuxer: $0) != nil }
        let names = Set(Container.demuxers)
        #expect(all.count > 250 && names.isSubset(of: all), "\(names.subtracting(all))")
        for name in ["mp3", "flac", "ogg", "wav", "aiff", "matroska,webm", "mov,mp4,m4a,3gp,3g2,mj2", "asf", "mpegts"] {
            #expect(allowed.contains(name), "\(name)")
        }
        let refused = [
            "hls", "dash", "concat", "sdp", "rtsp", "image2", "ffmetadata", "libgme", "png_pipe", "data", "srt",
            "rawvideo", "h264", "imf", "webm_dash_manifest", "tty",
        ]
        for name in refused { #expect(all.contains(name) && !allowed.contains(name), "\(name)") }
        // Devices, which ffmpeg 7 no longer lists here.
        for name in ["lavfi", "alsa"] { #expect(Container(demuxer: name) == nil, "\(name)") }
        print("opened: \(allowed.sorted().joined(separator: " "))")
        #expect(allowed.count < all.count / 2 + 20)
    }

    @Test func `only audio is decoded, and no source that synthesises it`() {
        let names = CodecID.decoders.split(separator: ",")
        #expect(names.contains("mp3float") && names.contains("wmapro") && names.contains("pcm_s24be"))
        let listed = CodecID.allCases.flatMap(\.names)
        for name in listed { #expect(avcodec_descriptor_get_by_name(name) != nil, "\(name)") }
        #expect(
            ["pcm_s24be", "adpcm_ms", "adpcm_swf", "dsd_lsbf"].map { CodecID(name: $0) } == [
                .pcm, .microsoft, .adpcm, .dsd,
            ])
        for name in ["h264", "mjpeg", "wavesynth", "comfortnoise", "ass"] { #expect(!names.contains(Substring(name))) }
    }

    @Test func `a tag whose chapters hold unbounded deflated frames is skipped`() async throws {
        let music = try fileBytes(try await Studio.shared.music(as: "chapter.mp3", ["-id3v2_version", "0"]))
        let titles: [(text: [UInt8], flags: UInt8, count: Int)] = [
            (Array("\0One".utf8), 0, 1), ([UInt8](repeating: 0x78, count: 20_000), 0x80, 0),
        ]
        for title in titles {
            let inner = frame("TIT2", title.text, flags: title.flags)
            let times: [UInt8] = [0, 1000, 0xFFFF_FFFF, 0xFFFF_FFFF].flatMap { (time: Int) -> [UInt8] in big(time) }
            let chapter: [UInt8] = Array("a\0".utf8) + times + inner
            let frames: [UInt8] = frame("PRIV", Array("me\0\u{1}\u{2}\u{3}".utf8)) + frame("CHAP", chapter)
            let size = [21, 14, 7, 0].map { (shift: Int) -> UInt8 in UInt8(frames.count >> shift & 0x7F) }
            let head: [UInt8] = Array("ID3\u{3}\0\0".utf8) + size
            let source = MemoryFile(head + frames + music)
            let reader = try AssetReader.open(source, SourceSettings(), stop: CancellationFlag())
            // Frames that are nobody's but ID3's come through TagLib alone, which inflates what it finds.
            #expect(try reader.metadata(source, charset: nil).frames.count == title.count)
        }
    }

    private func frame(_ name: String, _ body: [UInt8], flags: UInt8 = 0) -> [UInt8] {
        Array(name.utf8) + big(body.count) + [0, flags] + body
    }

    private func big(_ value: Int) -> [UInt8] { (0..<4).map { UInt8(truncatingIfNeeded: value >> (24 - 8 * $0)) } }
}
