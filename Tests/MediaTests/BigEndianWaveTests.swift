import MediaTypes
import Testing

@testable import Bytes
@testable import Containers
@testable import Demuxing
@testable import Tags

/// WAV whose numbers are in big-endian order (RIFX).
@Suite struct BigEndianWaveTests {
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
