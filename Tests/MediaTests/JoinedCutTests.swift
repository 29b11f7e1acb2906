import Encoding
import MediaTypes
import TestSupport
import Testing

/// Cuts of files whose parts have counts, rates and times of their own: each is the slice of the whole decode.
@Suite(.failureReport, .timeLimit(.minutes(5))) struct JoinedCutTests {
    struct Joined: CustomTestStringConvertible, Sendable {
        let testDescription: String
        let container: String
        /// The sample rate and the seconds of each part.
        let parts: [(rate: Int, seconds: Int)]
        var arguments: [String] = []
        /// Bytes between the parts.
        var between: [UInt8] = []
        var change: @Sendable ([[UInt8]]) -> [UInt8] = { $0.flatMap(\.self) }
    }

    private static let bare = ["-ac", "1", "-b:a", "48k", "-write_xing", "0", "-id3v2_version", "0"]
    private static let layers = ["-ac", "1", "-b:a", "48k"]

    private static let kinds: [Joined] = [
        Joined(
            testDescription: "two LAME files", container: "mp3", parts: [(22_050, 15), (22_050, 15)], arguments: layers),
        Joined(
            testDescription: "a short LAME file behind", container: "mp3", parts: [(22_050, 20), (22_050, 1)],
            arguments: layers),
        Joined(
            testDescription: "MP3 with tags between", container: "mp3", parts: [(22_050, 14), (22_050, 14)],
            arguments: bare,
            between: Array("TAG".utf8) + [UInt8](repeating: 0, count: 125)),
        Joined(
            testDescription: "MP3 of two rates", container: "mp3", parts: [(24_000, 14), (22_050, 15)], arguments: bare),
        Joined(
            testDescription: "AAC of two rates", container: "aac", parts: [(24_000, 14), (22_050, 15)],
            arguments: ["-aac_pns", "0"]),
        Joined(
            testDescription: "MP2 of two rates", container: "mp2", parts: [(24_000, 14), (22_050, 15)],
            arguments: ["-ac", "1"]),
        Joined(
            testDescription: "AC-3 of two rates", container: "ac3", parts: [(48_000, 14), (44_100, 15)],
            arguments: ["-ac", "1"]),
        Joined(
            testDescription: "FLAC whose numbers start anew", container: "flac", parts: [(16_000, 14), (16_000, 12)],
            arguments: ["-frame_size", "1024"], change: { withoutSum($0[0]) + $0[1][frames(of: $0[1])...] }),
        Joined(
            testDescription: "FLAC whose numbers start anew, and whose total is right", container: "flac",
            parts: [(16_000, 14), (16_000, 12)], arguments: ["-frame_size", "1024"],
            change: { parts in
                var bytes = withoutSum(parts[0]) + parts[1][frames(of: parts[1])...]
                for index in 0..<4 { bytes[22 + index] = UInt8(truncatingIfNeeded: 26 * 16_000 >> (24 - 8 * index)) }
                return bytes
            }),
        Joined(
            testDescription: "a chain of Vorbis", container: "ogg", parts: [(16_000, 9), (16_000, 10), (16_000, 8)]),
        Joined(testDescription: "a chain of Opus", container: "opus", parts: [(48_000, 9), (48_000, 10), (48_000, 8)]),
        Joined(
            testDescription: "a chain of FLAC", container: "oga", parts: [(16_000, 14), (16_000, 12)],
            arguments: ["-c:a", "flac"]),
        Joined(
            testDescription: "Vorbis that begins late and leaps", container: "ogg", parts: [(16_000, 26)],
            change: { OggFile.moved($0[0]) { $0 > 14 ? 3_632_000 : 3_600_000 } }),
        Joined(
            testDescription: "Opus that begins late and leaps back", container: "opus", parts: [(48_000, 26)],
            change: { OggFile.moved($0[0]) { $0 > 14 ? 3_504_000 : 3_600_000 } }),
    ]

    @Test(arguments: kinds) func `any cut is the slice of the whole decode`(_ joined: Joined) async throws {
        var parts: [[UInt8]] = []
        for (index, (rate, seconds)) in joined.parts.enumerated() {
            let tone = "0.3*sin(2*PI*(\(300 + 100 * index)*t+20*t*t))"
            let path = try await Studio.shared.source(
                "joined-\(index).\(joined.container)",
                ["-f", "lavfi", "-i", "aevalsrc='\(tone)':s=\(rate):d=\(seconds)"] + joined.arguments)
            parts.append((index > 0 ? joined.between : []) + (try fileBytes(path)))
        }
        let file = MemoryFile(joined.change(parts))
        let whole = try file.samples()
        let rate = joined.parts[0].rate
        let least = joined.parts.reduce(0) { $0 + $1.seconds } * rate - rate / 4
        #expect(whole.count >= least, "\(whole.count)")
        var noise = Noise(state: 37)
        for _ in 0..<Self.cuts {
            // Most of them far in, where what is before is not decoded.
            let first = Int.random(in: whole.count / 3..<whole.count - 1000, using: &noise)
            let end = first + Int.random(in: 1...1000, using: &noise)
            let cut = try file.converted(
                to: Rendition(format: "wav", sampleFormat: .f32), start: MediaTime(sample: Int64(first), rate: rate),
                end: MediaTime(sample: Int64(end), rate: rate)
            ).file.samples()
            #expect(cut.elementsEqual(whole[first..<end]), "\(first)..<\(end) of \(whole.count)")
        }
    }

    private static let cuts = 10

    /// FLAC without the MD5 in STREAMINFO (RFC 9639, 8.2).
    private static func withoutSum(_ bytes: [UInt8]) -> [UInt8] {
        bytes[..<26] + [UInt8](repeating: 0, count: 16) + bytes[42...]
    }

    /// Where the frames of a FLAC file begin, behind the metadata blocks (RFC 9639, 8.1).
    private static func frames(of bytes: [UInt8]) -> Int {
        var (offset, isLast) = (4, false)
        while !isLast {
            isLast = bytes[offset] & 0x80 != 0
            offset += 4 + bytes[(offset + 1)..<(offset + 4)].reduce(0) { $0 << 8 | Int($1) }
        }
        return offset
    }
}
