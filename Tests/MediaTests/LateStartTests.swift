import Bytes
import Decoding
import FoundationEssentials
import Glibc
import Libav
import Lifecycle
import MediaTypes
import TestSupport
import Testing

/// Cuts far into a source, which is not decoded from its start.
@Suite(.failureReport, .timeLimit(.minutes(5))) struct LateStartTests {
    /// A source made of the sweep, and how it is to be read.
    struct Variant: CustomTestStringConvertible, Sendable {
        let name: String
        let arguments: [String]
        /// Seconds of the sweep in it.
        var seconds = 20
        /// How ffmpeg has to be told to decode it, for the same samples.
        var decoding: [String] = []
        /// What cuts are worth beside a whole decode, in dB, where libav makes up noise as it goes.
        var noise: Double?
        /// What a whole decode is worth beside that of the reference, in dB; `nil` if ffmpeg decodes the same samples.
        var likeness: Double?
        /// Whether it is decoded from the start, for want of anything better.
        var startsLate = true
        /// How many files are put behind each other for it, each with a part of the sweep.
        var links = 1
        var testDescription: String { name }
    }

    private static let dolby = ["-cons_noisegen", "1", "-drc_scale", "0"]
    private static let fragments = ["-movflags", "frag_keyframe+empty_moov", "-frag_duration", "1000000"]

    private static let picture = ["-f", "lavfi", "-i", "color=s=64x64:r=25:d=20", "-map", "0:a", "-map", "1:v"]

    private static let variants: [Variant] = [
        .init(name: "cbr.mp3", arguments: []), .init(name: "vbr.mp3", arguments: ["-q:a", "4"]),
        .init(name: "bare-vbr.mp3", arguments: ["-q:a", "4", "-write_xing", "0"]),
        .init(name: "bare.mp3", arguments: ["-write_xing", "0"]),
        .init(name: "tagged.mp3", arguments: ["-metadata", "title=Sweep", "-write_id3v1", "1"]),
        .init(name: "low.mp3", arguments: ["-ar", "16000", "-b:a", "8k"]),
        .init(name: "half.mp3", arguments: ["-ar", "22050", "-b:a", "320k"]),
        .init(name: "l2.mp2", arguments: [], decoding: ["-c:a", "mp2float"]),
        .init(name: "plain.aac", arguments: ["-aac_pns", "0"]), .init(name: "noise.aac", arguments: [], noise: 30),
        .init(name: "plain.m4a", arguments: ["-aac_pns", "0", "-movie_timescale", "44100"]),
        .init(name: "noise.m4a", arguments: ["-movie_timescale", "44100"], noise: 30),
        .init(name: "fragments.mp4", arguments: ["-aac_pns", "0"] + fragments),
        .init(
            name: "opus.mp4", arguments: ["-c:a", "libopus", "-ar", "48000", "-movie_timescale", "48000"],
            decoding: Studio.opus),
        .init(name: "vorbis.mp4", arguments: ["-c:a", "libvorbis"]),
        .init(name: "flac.mp4", arguments: ["-c:a", "flac", "-strict", "-2"]),
        .init(name: "alac.m4a", arguments: ["-c:a", "alac"]),
        .init(name: "mp3.mov", arguments: ["-c:a", "libmp3lame"]),
        .init(name: "ac3.mp4", arguments: ["-c:a", "ac3"], decoding: dolby),
        .init(name: "pcm.mov", arguments: ["-c:a", "pcm_s24le"]),
        .init(name: "vorbis.ogg", arguments: ["-c:a", "libvorbis"], seconds: 32),
        .init(name: "chained.ogg", arguments: ["-c:a", "libvorbis"], seconds: 32, links: 3),
        .init(name: "flac.ogg", arguments: ["-c:a", "flac"], seconds: 32),
        .init(name: "music.opus", arguments: ["-b:a", "64k"], seconds: 32, decoding: Studio.opus),
        .init(name: "long-frames.opus", arguments: ["-frame_duration", "60"], decoding: Studio.opus),
        .init(
            name: "voice.opus", arguments: ["-ac", "1", "-b:a", "12k", "-application", "voip"], decoding: Studio.opus,
            startsLate: false),
        .init(
            name: "hybrid.opus", arguments: ["-ac", "1", "-b:a", "28k", "-application", "voip"], decoding: Studio.opus),
        .init(
            name: "wide.spx", arguments: ["-c:a", "libspeex", "-ar", "16000", "-ac", "1"], seconds: 56,
            decoding: Studio.speex, likeness: 15),
        .init(name: "opus.webm", arguments: ["-c:a", "libopus"], seconds: 32, decoding: Studio.opus),
        .init(name: "vorbis.webm", arguments: ["-c:a", "libvorbis"], seconds: 32),
        .init(name: "aac.mka", arguments: ["-c:a", "aac", "-aac_pns", "0"], seconds: 32),
        .init(name: "mp3.mka", arguments: ["-c:a", "libmp3lame"], seconds: 32),
        .init(name: "flac.mka", arguments: ["-c:a", "flac"], seconds: 32),
        .init(name: "ac3.mka", arguments: ["-c:a", "ac3"], seconds: 32, decoding: dolby),
        .init(name: "wavpack.mka", arguments: ["-c:a", "wavpack"]),
        .init(name: "pcm.mka", arguments: ["-c:a", "pcm_s16le"]),
        .init(name: "opus.caf", arguments: ["-c:a", "libopus", "-ar", "48000"], decoding: Studio.opus),
        .init(name: "alac.caf", arguments: ["-c:a", "alac"]),
        .init(name: "ima4.caf", arguments: ["-c:a", "adpcm_ima_qt"], startsLate: false),
        .init(name: "a.ac3", arguments: [], decoding: dolby), .init(name: "a.eac3", arguments: [], decoding: dolby),
        .init(name: "a.dts", arguments: ["-c:a", "dca", "-strict", "-2", "-b:a", "768k"]),
        .init(name: "predicted.dts", arguments: ["-c:a", "dca", "-strict", "-2", "-b:a", "512k", "-dca_adpcm", "1"]),
        .init(name: "a.wv", arguments: []), .init(name: "a.tta", arguments: []), .init(name: "a.flac", arguments: []),
        .init(name: "a.wma", arguments: ["-c:a", "wmav2"], startsLate: false),
        .init(name: "mp3.avi", arguments: ["-c:a", "libmp3lame"]),
        .init(name: "aac.avi", arguments: ["-c:a", "aac", "-aac_pns", "0"]),
        .init(name: "ac3.avi", arguments: ["-c:a", "ac3"], decoding: dolby),
        .init(name: "pcm.avi", arguments: ["-c:a", "pcm_s16le"]),
        .init(name: "aac.ts", arguments: ["-c:a", "aac", "-aac_pns", "0"]),
        .init(name: "l2.ts", arguments: ["-c:a", "mp2"], decoding: ["-c:a", "mp2float"]),
        .init(name: "ac3.ts", arguments: ["-c:a", "ac3"], decoding: dolby),
        .init(name: "mp3.flv", arguments: ["-c:a", "libmp3lame"]),
        .init(name: "aac.flv", arguments: ["-c:a", "aac", "-aac_pns", "0"]),
        .init(name: "video.flv", arguments: picture + ["-c:v", "flv", "-c:a", "libmp3lame"]),
        .init(
            name: "video.ts", arguments: picture + ["-c:v", "mpeg2video", "-c:a", "mp2"],
            decoding: ["-c:a", "mp2float"]),
        .init(name: "gsm.wav", arguments: ["-c:a", "libgsm_ms", "-ar", "8000", "-ac", "1"], seconds: 56),
        .init(name: "plain.gsm", arguments: ["-c:a", "libgsm", "-ar", "8000", "-ac", "1"], seconds: 56),
        .init(name: "ima.wav", arguments: ["-c:a", "adpcm_ima_wav"]),
        .init(name: "law.wav", arguments: ["-c:a", "pcm_mulaw"]),
        .init(name: "a.wav", arguments: []), .init(name: "a.w64", arguments: []), .init(name: "a.au", arguments: []),
        .init(name: "a.aiff", arguments: []), .init(name: "long.wav", arguments: ["-rf64", "always"]),
    ]

    /// Noise and a tone that rises; no two moments of it are alike.
    private func source(_ variant: Variant) async throws -> (path: String, links: [String]) {
        let signal = "0.4*sin(2*PI*(300*t+30*t*t))+0.1*random(0)"
        let sweep = try await Studio.shared.source(
            "sweep-\(variant.seconds).wav", ["-f", "lavfi", "-i", "aevalsrc='\(signal)':s=44100:d=\(variant.seconds)"])
        var links: [String] = []
        let seconds = variant.seconds / variant.links
        for link in 0..<variant.links {
            let part = ["-ss", String(link * seconds), "-t", String(seconds), "-i", sweep]
            let serial = variant.links > 1 ? ["-serial_offset", String(link)] : []
            links.append(
                try await Studio.shared.source("late-\(link)-\(variant.name)", part + variant.arguments + serial))
        }
        guard links.count > 1 else { return (links[0], links) }
        var chain = Data()
        for link in links { chain.append(try Data(contentsOf: URL(filePath: link))) }
        let path = Studio.shared.folder.file("late-" + variant.name)
        try chain.write(to: URL(filePath: path))
        return (path, links)
    }

    @Test(arguments: variants) func `a cut gives the samples of a whole decode`(_ variant: Variant) async throws {
        let (path, links) = try await source(variant)
        let whole = try await readChannel(path)
        // What containers keep of padding is theirs and ffmpeg's; respool gives no more than they.
        var format = "s16le"
        if whole.sampleBytes == 4 {
            format = try await ffprobe(path, "stream=sample_fmt").hasPrefix("s32") ? "s32le" : "f32le"
        }
        var ffmpeg: [UInt8] = []
        for link in links { ffmpeg += try await raw(link, variant.decoding, format) }
        #expect(whole.bytes.count <= ffmpeg.count && whole.bytes.count > ffmpeg.count - 2000 * whole.sampleBytes)
        if let likeness = variant.likeness {
            #expect(ratio(Array(ffmpeg.prefix(whole.bytes.count)), whole.bytes) > likeness)
        } else {
            #expect(isPrefix(whole.bytes, of: ffmpeg))
        }
        let count = whole.count
        for first in [count * 3 / 4 - 777, count * 19 / 20 + 13, count - 20] {
            // The last goes on to the end of the source, which has to be where its headers say.
            let end = first == count - 20 ? nil : Int64(min(first + 10_000, count))
            let cut = try await readChannel(path, from: Int64(first), to: end)
            let expected = Array(
                whole.bytes[(first * whole.sampleBytes)..<min(first + 10_000, count) * whole.sampleBytes])
            #expect(cut.bytes.count == expected.count)
            if let noise = variant.noise {
                // Twenty samples are too few for a ratio.
                if end != nil { #expect(ratio(expected, cut.bytes) > noise, "\(first) of \(count)") }
            } else {
                #expect(cut.bytes == expected, "\(first) of \(count)")
            }
            #expect((cut.decodedFrom > 0) == variant.startsLate, "\(first) of \(count)")
        }
    }

    private func raw(_ path: String, _ decoding: [String], _ format: String) async throws -> [UInt8] {
        let raw = await Studio.shared.output("raw")
        try await Studio.ffmpeg(decoding + ["-i", path, "-map", "0:a:0", "-f", format, raw])
        return [UInt8](try Data(contentsOf: URL(filePath: raw)))
    }

    private func isPrefix(_ bytes: [UInt8], of others: [UInt8]) -> Bool {
        bytes.count <= others.count && memcmp(bytes, others, bytes.count) == 0
    }

    /// dB of 32-bit samples over their difference from others.
    private func ratio(_ expected: [UInt8], _ found: [UInt8]) -> Double {
        func floats(_ bytes: [UInt8]) -> [Float] { bytes.withUnsafeBytes { Array($0.bindMemory(to: Float.self)) } }
        var (signal, error) = (0.0, 0.0)
        for (a, b) in zip(floats(expected), floats(found)) {
            signal += Double(a * a)
            error += Double((a - b) * (a - b))
        }
        return 10 * log10(signal / max(error, 1e-30))
    }
}

/// The samples of a source's only channel, as the decoder gives them.
struct DecodedChannel: Sendable {
    var bytes: [UInt8] = []
    let sampleBytes: Int
    let decodedFrom: Int64
    var count: Int { bytes.count / sampleBytes }
}

/// Reads a source with one channel, from one sample to another.
func readChannel(_ path: String, from first: Int64 = 0, to end: Int64? = nil) async throws -> DecodedChannel {
    try await onThread {
        let file = Descriptor(owning: open(path, O_RDONLY | O_CLOEXEC))
        let source = try DescriptorSource(borrowing: file.number)
        // The rate is known once the source is open.
        let rate = try AssetReader.open(source, SourceSettings(), stop: CancellationFlag()).shape.rate
        let range = TimeRange(
            start: MediaTime(sample: first, rate: rate), end: end.map { MediaTime(sample: $0, rate: rate) })
        var reader = try AssetReader.open(source, SourceSettings(range: range), stop: CancellationFlag())
        let bytes = reader.shape.sampleBytes
        #expect(reader.shape.channels == 1)
        var samples = DecodedChannel(sampleBytes: bytes, decodedFrom: reader.decodedFrom)
        let frame = try Frame()
        while try reader.next(into: frame) {
            // With a single channel planar samples and interleaved ones are the same.
            samples.bytes.append(
                contentsOf: UnsafeRawBufferPointer(start: frame.planes[0]!, count: frame.samples * bytes))
        }
        return samples
    }
}
