import Bytes
import CLibav
import Containers
import FoundationEssentials
import Libav
import Lifecycle
import MediaTypes
import TestSupport
import Testing

@testable import Demuxing
@testable import Tags

/// WAV whose samples are not what libav reads: in big-endian order (RIFX), or frames of another codec.
@Suite(.failureReport, .timeLimit(.minutes(5))) struct WaveSamplesTests {
    /// A ramp over the whole range of 16 bits.
    private static let ramp = (0..<4000).map { Float($0 - 2000) / 2048 }

    @Test(arguments: [(16, 1), (24, 1), (32, 1), (32, 3), (64, 3)])
    func `a RIFX file gives the samples that it holds`(_ bits: Int, _ coding: Int) throws {
        let found = try MemoryFile(Self.file(bits, coding)).samples()
        #expect(found == Self.ramp)
    }

    @Test func `a range of a RIFX file begins with its first sample`() throws {
        let part = try MemoryFile(Self.file(16, 1)).converted(
            to: Rendition(format: "wav", sampleFormat: .f32), start: MediaTime(sample: 1234, rate: 1000),
            end: MediaTime(sample: 2345, rate: 1000)
        ).file
        #expect(try part.samples() == Array(Self.ramp[1234..<2345]))
    }

    @Test func `a RIFX file that was cut short is no success`() throws {
        let bytes = Self.file(16, 1).dropLast(1000)
        #expect(throws: MediaError.self) { try MemoryFile(Array(bytes)).samples() }
    }

    @Test(arguments: [0x7FFF_F000, 0xFFFF_FFFF, 0])
    func `a RIFX file of unknown size is read to its last sample`(_ size: Int) throws {
        var bytes = Self.file(16, 1)
        bytes.replaceSubrange(40..<44, with: Self.big(size, 4))
        #expect(try MemoryFile(bytes).samples() == Self.ramp)
    }

    @Test func `tags of a RIFX file are carried over, and one that inflates is not read`() throws {
        let info = Array("INFOINAM".utf8) + Self.big(4, 4) + Array("Tune".utf8)
        // A frame of ID3v2.4 that is deflated, and claims to hold 1 GiB.
        let frame = Array("TIT2".utf8) + Self.big(8, 4) + [0, 0x09] + Self.big(1 << 30, 4) + [0, 0, 0, 0]
        let tag = Array("ID3".utf8) + [4, 0, 0, 0, 0, 0, UInt8(frame.count)] + frame
        let file = Self.file(16, 1)
        let chunks: [UInt8] = [("LIST", info), ("ID3 ", tag)].flatMap { name, body in
            Array(name.utf8) + Self.big(body.count, 4) + body
        }
        let source = MemoryFile(file + chunks)
        var attachmentBytes: Int64 = 0
        let hidden = try DeflatedTags.hidden(source, .chunks, attachmentBytes: &attachmentBytes)
        #expect(hidden !== source)
        let texts = try WaveTags.read(hidden, charset: nil, maxBytes: 1 << 20).texts
        #expect(texts["TITLE"] == ["Tune"], "\(texts)")
    }

    /// Frames as on a CD: the header declares two channels of 16 bits.
    @Test(arguments: [0, 65_536])
    func `frames of DTS in the place of samples are decoded, also behind silence`(silence: Int) async throws {
        let studio = Studio.shared
        let tone = try await studio.source(
            "tone.dts", ["-f", "lavfi", "-i", "sine=440:r=44100:d=2", "-ac", "2", "-c:a", "dca", "-strict", "-2"])
        let frames = [UInt8](repeating: 0, count: silence) + (try fileBytes(tone))
        let path = await studio.output("wav")
        try Data(Self.little(frames)).write(to: URL(filePath: path))
        let expected: [Float] = try await decode(tone, as: Float.self, "f32le")
        let found = try MemoryFile(path: path).samples()
        #expect(found.count == expected.count && zip(found, expected).allSatisfy { abs($0 - $1) < 1e-4 })
    }

    /// What libav detects in the place of samples, where the chunks before it are long too.
    @Test(arguments: [
        ("ac3", AV_CODEC_ID_AC3, false), ("swapped.ac3", AV_CODEC_ID_AC3, false), ("eac3", AV_CODEC_ID_EAC3, false),
        ("mp3", AV_CODEC_ID_MP3, true), ("adts", AV_CODEC_ID_AAC, false), ("latm", AV_CODEC_ID_AAC_LATM, false),
        ("dts", AV_CODEC_ID_DTS, true),
    ])
    func `frames of each codec are detected behind long chunks`(
        form: String, codec: AVCodecID, mayFollowSilence: Bool
    ) async throws {
        let frames = try await Self.frames(form)
        let sounds = mayFollowSilence ? [frames, [UInt8](repeating: 0, count: 8192) + frames] : [frames]
        for sound in sounds {
            for (name, file) in Self.files(sound) {
                let demuxer = try Demuxer.open(MemoryFile(file), stop: CancellationFlag())
                #expect(demuxer.tracks[0].codec == codec, "\(form) in \(name)")
            }
        }
    }

    @Test func `samples are not searched by libav, and what may be frames is left to it`() throws {
        var random = Noise(state: 1)
        let noise = (0..<150_000).map { _ in UInt8.random(in: 0...255, using: &random) }
        for (name, file) in Self.files(noise) {
            #expect(try !WaveSamples.mayBeFrames(MemoryFile(file)), "\(name)")
            // Where the samples begin is not clear.
            let twice = file + file[(file.firstRange(of: Array("data".utf8))!.lowerBound)...]
            #expect(try WaveSamples.mayBeFrames(MemoryFile(twice)), "\(name)")
        }
        #expect(try WaveSamples.mayBeFrames(MemoryFile(Array("RIFF".utf8))))
    }

    /// Two seconds of a tone at 44.1 or 48 kHz, of which each frame has the same length.
    private static func frames(_ form: String) async throws -> [UInt8] {
        let kind = String(form.split(separator: ".").last!)
        let coding = ["dts": "dca", "mp3": "libmp3lame", "adts": "aac", "latm": "aac"][kind] ?? kind
        let tone = [
            "-f", "lavfi", "-i", "sine=440:r=48000:d=2", "-ac", "2", "-c:a", coding, "-strict", "-2", "-bitexact",
        ]
        let plain = kind == "mp3" ? ["-write_xing", "0", "-id3v2_version", "0"] : []
        let path = try await Studio.shared.source("frames." + kind, tone + plain + ["-f", kind])
        let bytes = try fileBytes(path)
        return form == kind ? bytes : bytes.indices.map { bytes[min($0 ^ 1, bytes.count - 1)] }
    }

    /// Files of all kinds, some with a chunk before the samples that is longer than what libav searches.
    private static func files(_ sound: [UInt8]) -> [String: [UInt8]] {
        let junk = [UInt8](repeating: 0, count: 140_000)
        return [
            "RIFF": little(sound), "RIFF with junk": little(sound, junk), "RF64": long(sound, junk),
            "Wave64": wave64(sound, junk),
        ]
    }

    /// A WAV file of two channels of 16 bits at 44.1 kHz.
    private static func little(_ sound: [UInt8], _ junk: [UInt8] = []) -> [UInt8] {
        let body = Array("WAVE".utf8) + chunk("fmt ", form) + chunk("JUNK", junk) + chunk("data", sound)
        return chunk("RIFF", body)
    }

    private static func long(_ sound: [UInt8], _ junk: [UInt8]) -> [UInt8] {
        let sizes = number(0, 8) + number(sound.count, 8) + number(0, 8) + number(0, 4)
        let body = chunk("ds64", sizes) + chunk("fmt ", form) + chunk("JUNK", junk) + Array("data".utf8)
        return Array("RF64".utf8) + number(0xFFFF_FFFF, 4) + Array("WAVE".utf8) + body + number(0xFFFF_FFFF, 4) + sound
    }

    private static func wave64(_ sound: [UInt8], _ junk: [UInt8]) -> [UInt8] {
        func chunk(_ name: String, _ body: [UInt8]) -> [UInt8] {
            let padding = [UInt8](repeating: 0, count: (8 - body.count % 8) % 8)
            return identifier(name) + number(24 + body.count, 8) + body + padding
        }
        func identifier(_ name: String) -> [UInt8] {
            let isOuter = name == "riff"
            let rest: [UInt8] =
                isOuter
                ? [0x2E, 0x91, 0xCF, 0x11, 0xA5, 0xD6, 0x28, 0xDB, 0x04, 0xC1, 0x00, 0x00]
                : [0xF3, 0xAC, 0xD3, 0x11, 0x8C, 0xD1, 0x00, 0xC0, 0x4F, 0x8E, 0xDB, 0x8A]
            return Array(name.utf8) + rest
        }
        let body = identifier("wave") + chunk("fmt ", form) + chunk("junk", junk) + chunk("data", sound)
        return identifier("riff") + number(24 + body.count, 8) + body
    }

    private static let form =
        number(1, 2) + number(2, 2) + number(44_100, 4) + number(176_400, 4) + number(4, 2) + number(16, 2)

    private static func chunk(_ name: String, _ body: [UInt8]) -> [UInt8] {
        Array(name.utf8) + number(body.count, 4) + body + (body.count % 2 == 1 ? [0] : [])
    }

    private static func number(_ value: Int, _ count: Int) -> [UInt8] { big(value, count).reversed() }

    private static func file(_ bits: Int, _ coding: Int) -> [UInt8] {
        let sound = ramp.flatMap { sample in
            switch (bits, coding) {
            case (32, 3): big(Int(sample.bitPattern), 4)
            case (64, 3): big(Int(bitPattern: UInt(Double(sample).bitPattern)), 8)
            default: big(Int(Double(sample) * Double(1 << (bits - 1))), bits / 8)
            }
        }
        let form = big(coding, 2) + big(1, 2) + big(1000, 4) + big(1000 * bits / 8, 4) + big(bits / 8, 2) + big(bits, 2)
        let body = Array("WAVEfmt ".utf8) + big(16, 4) + form + Array("data".utf8) + big(sound.count, 4) + sound
        return Array("RIFX".utf8) + big(body.count, 4) + body
    }

    private static func big(_ number: Int, _ count: Int) -> [UInt8] {
        (0..<count).reversed().map { UInt8(truncatingIfNeeded: number >> (8 * $0)) }
    }
}
