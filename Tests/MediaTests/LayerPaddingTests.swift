import Encoding
import FoundationEssentials
import MediaTypes
import TestSupport
import Testing

/// The delay and padding of MP3 files whose Xing header is not where libav searches for it, or that have none.
@Suite(.failureReport, .timeLimit(.minutes(5))) struct LayerPaddingTests {
    private func music(_ arguments: [String]) async throws -> (samples: [Float], bytes: [UInt8]) {
        let path = try await Studio.shared.music(as: "padding.mp3", ["-t", "3", "-ac", "1"] + arguments)
        return (try await decode(path, as: Float.self, "f32le"), try fileBytes(path))
    }

    /// An APEv2 tag with a header, and an item that looks like the header of a frame.
    private static let ape: [UInt8] = {
        let item =
            [204, 0, 0, 0, 0, 0, 0, 0] + Array("Title".utf8) + [0] + Array("Apes".utf8)
            + [UInt8](repeating: 0x62, count: 200)
        func block(_ flag: UInt8) -> [UInt8] {
            Array("APETAGEX".utf8) + [0xD0, 7, 0, 0, UInt8(item.count + 32), 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, flag]
                + [UInt8](repeating: 0, count: 8)
        }
        return block(0xA0) + item + block(0x80)
    }()

    private static let others: [(String, [UInt8])] = [
        ("a zero", [0]), ("a hundred letters", [UInt8](repeating: 0x61, count: 100)), ("APEv2", ape),
        ("what looks like a header", [0xFF, 0xFB, 0x90, 0x64] + [UInt8](repeating: 0, count: 3000)),
    ]

    @Test(arguments: others)
    func `bytes between ID3v2 and the Xing header leave delay and padding out`(_ name: String, _ other: [UInt8])
        async throws
    {
        let (expected, bytes) = try await music([])
        let header = 10 + Int(bytes[8]) << 7 + Int(bytes[9])
        for file in [bytes[..<header] + other + bytes[header...], other + bytes[header...]] {
            let found = try MemoryFile(Array(file)).samples()
            #expect(found == expected, "\(found.count), not \(expected.count)")
        }
    }

    @Test func `an APEv2 tag in front is read`() async throws {
        let bytes = try await music(["-id3v2_version", "0"]).bytes
        let path = await Studio.shared.output("flac")
        let flac = try MemoryFile(Self.ape + bytes).converted(to: Rendition(format: "flac")).file
        try Data(flac.bytes).write(to: URL(filePath: path))
        #expect(try await ffprobe(path, "format_tags=title").hasPrefix("Apes"))
    }

    /// Delay, padding and length by `iTunSMPB`, and the number of bytes of a character.
    @Test(arguments: [("COMM", "eng"), ("TXXX", "")])
    func `the delay and padding of iTunes are left out`(_ frame: String, _ language: String) async throws {
        let (all, bytes) = try await music(["-write_xing", "0", "-id3v2_version", "0"])
        let (delay, count) = (1105, 132_300)
        func hexadecimal(_ number: Int, _ digits: Int) -> String {
            let text = String(number, radix: 16, uppercase: true)
            return " " + String(repeating: "0", count: digits - text.count) + text
        }
        let fields =
            hexadecimal(0, 8) + hexadecimal(delay, 8) + hexadecimal(all.count - delay - count, 8)
            + hexadecimal(count, 16)
        let content = [0] + Array((language + "iTunSMPB\0" + fields).utf8)
        let tag = Array(frame.utf8) + [0, 0, 0, UInt8(content.count), 0, 0] + content
        let file = MemoryFile(Array("ID3".utf8) + [3, 0, 0, 0, 0, 0, UInt8(tag.count)] + tag + bytes)
        let expected = all[delay..<(delay + count)]
        #expect(try file.samples().elementsEqual(expected))
        let first = count - 5000
        let cut = try file.converted(
            to: Rendition(format: "wav", sampleFormat: .f32), start: MediaTime(sample: Int64(first), rate: 44_100))
        #expect(try cut.file.samples().elementsEqual(expected.dropFirst(first)))
    }
}
