import Encoding
import FoundationEssentials
import Lifecycle
import MediaTypes
import TestSupport
import Testing

/// Files of which the channels or the sample rate change on the way: what they begin with decides.
@Suite(.failureReport, .ownThread, .timeLimit(.minutes(5))) struct FlacShapeTests {
    /// The packets of eight seconds and more of FLAC, the first of which is the header.
    private func packets(rate: Int, channels: Int) async throws -> [[UInt8]] {
        let path = try await Studio.shared.source(
            "shape-\(rate)-\(channels).oga",
            [
                "-f", "lavfi", "-i", "aevalsrc='0.4*sin(2*PI*440*t+3*sin(PI*t))':s=\(rate):d=16", "-ac", "\(channels)",
                "-c:a", "flac", "-frame_size", "4096",
            ])
        return OggFile(try fileBytes(path)).packets.map(\.bytes)
    }

    /// A native file of one part behind the other, whose frames are numbered on.
    private func file(_ parts: [[[UInt8]]]) -> MemoryFile {
        // Behind the name of the mapping to Ogg, its version and a count of packets (RFC 9639, 10.1).
        var bytes = Array(parts[0][0][9...])
        bytes[4] |= 0x80
        let frames = parts.flatMap { $0.filter { $0.count > 1 && $0[0] == 0xFF && $0[1] == 0xF8 } }
        // Neither a length nor a sum.
        bytes[21] &= 0xF0
        for place in 22..<42 { bytes[place] = 0 }
        // A last frame may be shorter, and the number of each counts frames of the usual length.
        let whole = frames.filter { $0[2] >> 4 != 6 && $0[2] >> 4 != 7 }
        return MemoryFile(bytes + whole.enumerated().flatMap { renumbered($1, $0) })
    }

    private func renumbered(_ frame: [UInt8], _ number: Int) -> [UInt8] {
        let width = max((~frame[4]).leadingZeroBitCount, 1)
        var head = Array(frame[..<4]) + Array(String(Unicode.Scalar(UInt32(number))!).utf8)
        let rest = 4 + width
        // No more than the rate may follow the number, before a sum of eight bits.
        let extra = frame[2] & 15 < 12 ? 0 : frame[2] & 15 == 12 ? 1 : 2
        head += frame[rest..<rest + extra]
        head.append(FlacChecksum.ofHeader(head[...]))
        let body = head + frame[(rest + extra + 1)...].dropLast(2)
        let check = FlacChecksum.ofFrame(body[...])
        return body + [UInt8(check >> 8), UInt8(check & 0xFF)]
    }

    @Test(arguments: [(44_100, 1), (22_050, 2)])
    func `a cut behind a change has the shape of the whole`(_ rate: Int, _ channels: Int) async throws {
        let (before, behind) = (
            try await packets(rate: 44_100, channels: 2), try await packets(rate: rate, channels: channels)
        )
        let file = file([before, behind])
        let all = try file.converted(to: Rendition(format: "wav", sampleFormat: .f32))
        #expect(all.result.sampleRate == 44_100 && all.result.channels == 2)
        let whole = try all.file.samples()
        for seconds in [4, 24, 28] {
            let first = seconds * 44_100
            let cut = try file.converted(
                to: Rendition(format: "wav", sampleFormat: .f32), start: MediaTime(sample: Int64(first), rate: 44_100),
                end: MediaTime(sample: Int64(first + 44_100), rate: 44_100))
            #expect(cut.result.sampleRate == 44_100 && cut.result.channels == 2, "\(seconds)")
            let isSame = try cut.file.samples() == Array(whole[(2 * first)..<(2 * first + 88_200)])
            #expect(isSame, "\(seconds)")
        }
    }

    @Test(arguments: [(44_100, 1), (22_050, 2)])
    func `a cut of MPEG audio behind a change has the shape of the whole`(_ rate: Int, _ channels: Int) async throws {
        var bytes: [UInt8] = []
        for (part, shape) in [(44_100, 2), (rate, channels), (44_100, 2)].enumerated() {
            bytes += try fileBytes(
                try await Studio.shared.source(
                    "shape-\(rate)-\(channels)-\(part).mp3",
                    [
                        "-f", "lavfi", "-i", "sine=440:r=\(shape.0):d=14", "-ac", "\(shape.1)", "-write_xing", "0",
                        "-id3v2_version", "0",
                    ]))
        }
        let file = MemoryFile(bytes)
        let whole = try file.samples()
        for seconds in [24, 40] {
            let first = seconds * 44_100
            let cut = try file.converted(
                to: Rendition(format: "wav", sampleFormat: .f32), start: MediaTime(sample: Int64(first), rate: 44_100),
                end: MediaTime(sample: Int64(first + 4410), rate: 44_100))
            #expect(cut.result.sampleRate == 44_100 && cut.result.channels == 2, "\(seconds)")
            let isSame = try cut.file.samples() == Array(whole[(2 * first)..<(2 * first + 8820)])
            #expect(isSame, "\(seconds)")
        }
    }

    @Test func `digital silence in 8 bits is decoded`() async throws {
        let (raw, path) = (await Studio.shared.output("raw"), await Studio.shared.output("flac"))
        try Data(repeating: 0x80, count: 132_300).write(to: URL(filePath: raw))
        let form = [
            "--force-raw-format", "--bps=8", "--channels=1", "--sample-rate=44100", "--sign=unsigned",
            "--endian=little",
        ]
        #expect(try await ChildProcess.run("flac", ["-s", "-f"] + form + [raw, "-o", path]).succeeded)
        let found = try MemoryFile(path: path).converted(to: Rendition(format: "wav", sampleFormat: .f32))
        #expect(try found.file.samples() == [Float](repeating: 0, count: 132_300))
        #expect(found.result.warnings.isEmpty)
    }
}
