import FoundationEssentials
import MediaTypes
import Testing

@testable import Bytes
@testable import Containers
@testable import Demuxing
@testable import Tags

/// WAV whose samples are not what libav reads: in big-endian order (RIFX), or frames of another codec.
@Suite struct WaveSamplesTests {
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
        let hidden = try DeflatedTags.hidden(source, .chunks)
        #expect(hidden !== source)
        let texts = try WaveTags.read(hidden, charset: nil, maxBytes: 1 << 20).texts
        #expect(texts["TITLE"] == ["Tune"], "\(texts)")
    }

    @Test(arguments: [0x7FFE_8001, 0xFE7F_0180, 0x1FFF_E800, 0xFF1F_00E8])
    func `each sync word of DTS is found, up to the last place that is searched`(word: Int) throws {
        let length = 131_072
        for place in [0, 1, 2, 3, 1000, length - 4] {
            var bytes = [UInt8](repeating: 0, count: length)
            // Bytes that occur in sync words, before the word itself.
            for near in stride(from: 0, to: place - 8, by: 97) { bytes[near] = [0x80, 0xE8, 0xFF, 0x7F][near % 4] }
            #expect(try !WaveSamples.mayBeDTS(MemoryFile(bytes)))
            bytes.replaceSubrange(place..<place + 4, with: Self.big(word, 4))
            #expect(try WaveSamples.mayBeDTS(MemoryFile(bytes)), "at \(place)")
        }
        #expect(try !WaveSamples.mayBeDTS(MemoryFile([UInt8](repeating: 0, count: length) + Self.big(word, 4))))
        #expect(try !WaveSamples.mayBeDTS(MemoryFile(Array(Self.big(word, 4).dropLast()))))
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

    /// A WAV file of two channels of 16 bits at 44.1 kHz.
    private static func little(_ sound: [UInt8]) -> [UInt8] {
        func number(_ value: Int, _ count: Int) -> [UInt8] { big(value, count).reversed() }
        let form = number(1, 2) + number(2, 2) + number(44_100, 4) + number(176_400, 4) + number(4, 2) + number(16, 2)
        let body = Array("WAVEfmt ".utf8) + number(16, 4) + form + Array("data".utf8) + number(sound.count, 4) + sound
        return Array("RIFF".utf8) + number(body.count, 4) + body
    }

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
