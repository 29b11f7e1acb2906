import Bytes
import Containers
import Lifecycle
import MediaTypes
import TestSupport
import Testing

@testable import Demuxing

/// Bare frames: the first of a file, files of one or two, and what only looks like them.
@Suite(.failureReport, .timeLimit(.minutes(5))) struct FewFramesTests {
    /// Frames with a checksum, as TwoLAME and LAME make them: layer II at 32 kbit/s, and layer III at 8.
    private static let second: [UInt8] = bytes(
        "fffc14c4bee0a640002a1cb7e2062d8e9e9e165dd0393e7aa5eed99bf6aacce41cc7e82ac34149b92cd65888fa6c4362"
            + "db6c0820df42fddbc43a8e510bdb3d0384d47eb3a17e84cec30154cc6afaa9dc619e2ce13699cc3582472d4193538800")
    private static let third: [UInt8] = bytes(
        "ffe218c4bcce000b908ad1b9431000ba003f17701dddddddf244444ffdddcfffae1c0c587fa81307c1f0fe5010ff94e0"
            + "f9fe5c1c0c77f021ceffe807fa154923247fd12e9917bfc8")

    private static func bytes(_ digits: String) -> [UInt8] {
        let digits = Array(digits)
        return stride(from: 0, to: digits.count, by: 2).map { UInt8(String(digits[$0...($0 + 1)]), radix: 16)! }
    }

    /// Silence in layer I: 384 samples at 44.1 kHz and 192 kbit/s, without a checksum.
    private static let first: [UInt8] = [0xFF, 0xFF, 0x60, 0x00] + [UInt8](repeating: 0, count: 204)

    @Test(arguments: [("first.mp2", ["-c:a", "mp2"]), ("first.mp3", ["-c:a", "libmp3lame", "-write_xing", "0"])])
    func `the first frame is kept whatever its flags`(_ name: String, _ arguments: [String]) async throws {
        var file = try fileBytes(try await Studio.shared.music(as: name, ["-id3v2_version", "0"] + arguments))
        let plain = try MemoryFile(file).samples()
        #expect(plain.count > 0 && plain.count % (2 * 1152) == 0)
        // The flag of an original, which no decoder looks at.
        file[3] ^= 0x04
        let flagged = try MemoryFile(file).samples()
        #expect(flagged.count == plain.count)
        let isSame = flagged == plain
        #expect(isSame)
    }

    @Test func `the first frame is kept in every layer, and also if it is the only one`() throws {
        for (frame, samples) in [(Self.first, 2 * 384), (Self.second, 1152), (Self.third, 576)] {
            for count in [1, 2, 3, 40] {
                var file = [[UInt8]](repeating: frame, count: count).flatMap { $0 }
                // A checksum holds the flag as well.
                if frame == Self.first { file[3] ^= 0x04 }
                #expect(try MemoryFile(file).samples().count == count * samples, "\(count) of \(frame.count) bytes")
            }
        }
    }

    @Test func `a frame with a wrong checksum, or one that is not whole, has no format`() {
        for frame in [Self.second, Self.third] {
            #expect(format(frame) == "mp3")
            for covered in [2, 4, 5, 6] {
                var wrong = frame
                wrong[covered] ^= 0x10
                #expect(format(wrong) == nil, "\(covered)")
            }
        }
        for frame in [Self.first, Self.second, Self.third] {
            for count in 0..<frame.count { #expect(format(Array(frame.prefix(count))) == nil) }
            #expect(format(frame + [0xFF]) == nil)
            #expect(format([0x00] + frame) == nil)
        }
    }

    @Test func `a lone frame that depends on an earlier one has no format`() {
        // The first bits behind the checksum, which covers them, of layer III; and without a checksum.
        var plain = Self.third
        plain[1] |= 1
        plain[4...5] = [0, 0]
        #expect(format(plain) == "mp3")
        plain[4] = 1
        #expect(format(plain) == nil)
    }

    @Test(arguments: [("ac3", "ac3"), ("eac3", "eac3"), ("adts", "aac"), ("gsm", "gsm")])
    func `a single frame is recognised only while it is whole`(_ name: String, _ format: String) async throws {
        let rate = name == "gsm" ? "8000" : "44100"
        let tone = try await Studio.shared.source(
            "few-\(name).wav", ["-f", "lavfi", "-i", "sine=r=\(rate):d=0.01", "-c:a", "pcm_s16le"])
        let frames = try await onThread { try MemoryFile(path: tone).converted(to: Rendition(format: name)).file.bytes }
        #expect(self.format(frames) == format)
        for count in 0..<min(frames.count, 33) { #expect(self.format(Array(frames.prefix(count))) == nil) }
        #expect(self.format(frames.dropLast()) == nil)
        #expect(self.format(frames + [0x0B]) == nil)
        guard name.hasSuffix("ac3") else { return }
        for place in 0..<frames.count {
            var wrong = frames
            wrong[place] ^= 1 << (place % 8)
            #expect(self.format(wrong) == nil, "\(place)")
        }
    }

    @Test func `a short transport stream is recognised by the checksum of its table`() async throws {
        let path = try await Studio.shared.source(
            "few.ts", ["-f", "lavfi", "-i", "sine=r=44100:d=0.01", "-c:a", "aac", "-f", "mpegts"])
        let file = try fileBytes(path)
        #expect(file.count <= 10 * 188 && format(file) == "mpegts")
        #expect(try MemoryFile(file).samples().count >= 441)
        for count in [1, 188, 189, file.count - 1] { #expect(format(Array(file.prefix(count))) == nil, "\(count)") }
        // The table is in the second packet.
        for place in [188, 189, 193, 196, 200, 205, 208, 376] {
            var wrong = file
            wrong[place] ^= 0x84
            #expect(format(wrong) == nil, "\(place)")
        }
    }

    @Test func `random bytes, texts and zeros have no format`() {
        var noise = Noise(state: 3)
        let marks: [[UInt8]] = [[], [0xFF, 0xFE], [0xFF, 0xFB], [0x0B, 0x77], [0xD0], [0x49, 0x44, 0x33, 4, 0]]
        for round in 0..<6000 {
            let count = Int.random(in: 1...700, using: &noise)
            var bytes = marks[round % marks.count]
            for _ in 0..<count { bytes.append(UInt8.random(in: 0...255, using: &noise)) }
            // Four bits are all there is to tell GSM by: one in sixteen blocks of its length begins with them.
            let found = format(bytes)
            #expect(found == nil || found == "gsm" && bytes.count % 33 == 0, "\(round): \(bytes.count) bytes")
        }
        let letters = Array(String(repeating: "дым ", count: 33).utf8)
        for count in 1...letters.count { #expect(format(Array(letters.prefix(count))) == nil, "\(count)") }
        for count in [33, 66, 136, 208, 576] {
            #expect(format([UInt8](repeating: 0, count: count)) == nil)
            var wide: [UInt8] = [0xFF, 0xFE]
            for unit in String(repeating: "A quick fox. ", count: count).utf8 { wide += [unit, 0] }
            #expect(format(Array(wide.prefix(count))) == nil)
        }
    }

    @Test func `the error names a recognised format that libav does not read`() throws {
        let free: [UInt8] = [0xFF, 0xFB, 0x00, 0x44] + [UInt8](repeating: 0, count: 1040)
        let tag: [UInt8] = Array("ID3".utf8) + [4, 0, 0, 0, 0, 0, 20] + [UInt8](repeating: 0, count: 20)
        var noise = Noise(state: 5)
        let chance = (0..<3000).map { _ in UInt8.random(in: 0...127, using: &noise) }
        for (bytes, name) in [
            (free + free + free + free, "MPEG audio in free format"),
            (tag + free + free + [0x02] + free, "free format"),
            (Array("ADIF".utf8) + chance, "AAC in ADIF"),
        ] {
            do {
                let samples = try MemoryFile(bytes).samples().count
                Issue.record("\(name): \(samples) samples")
            } catch let error as MediaError {
                guard case .unsupportedFormat = error.reason else { Issue.record("\(error.reason)"); continue }
                #expect(error.sentence.contains(name), "\(error.sentence)")
            }
        }
    }

    private func format(_ bytes: [UInt8]) -> String? { try? FewFrames.container(MemoryFile(bytes))?.demuxers.first }
}
