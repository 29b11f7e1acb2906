import Bytes
import Decoding
import Encoding
import FoundationEssentials
import Libav
import Lifecycle
import MediaTypes
import Playlists
import TestSupport
import Testing

@testable import Conversion

/// Headers that hold numbers beyond all reason, which must not end the process, and lengths that a cut left behind.
@Suite(.failureReport, .timeLimit(.minutes(5))) struct HostileHeaderTests {
    private static let largest = [UInt8](repeating: 0xFF, count: 7) + [0x7F]

    private func changed(_ name: String, _ arguments: [String] = [], _ change: (inout [UInt8]) throws -> Void)
        async throws -> String
    {
        var bytes = try fileBytes(try await Studio.shared.music(as: name, arguments))
        try change(&bytes)
        return try Studio.shared.folder.write("changed-\(name)", Data(bytes))
    }

    @Test func `a Wave64 chunk of the largest size is refused`() async throws {
        let path = try await changed("hostile.w64") { bytes in
            let data = try #require(bytes.firstRange(of: Array("data".utf8) + [0xF3, 0xAC])).lowerBound
            bytes.insert(contentsOf: Array("junk".utf8) + [UInt8](repeating: 0, count: 12) + Self.largest, at: data)
        }
        #expect(await failure(path) != nil)
    }

    @Test func `a fragment in which no packet can be decoded is refused`() async throws {
        let fragment = ["-c:a", "aac", "-movflags", "empty_moov+default_base_moof", "-frag_duration", "10000000"]
        let path = try await changed("hostile.mp4", fragment) { bytes in
            let data = try #require(bytes.firstRange(of: Array("mdat".utf8))).upperBound
            // libav then does not know how long a frame is.
            for place in data..<bytes.count { bytes[place] ^= 0x5A }
        }
        guard case .corruptMedia = try #require(await failure(path)).reason else {
            Issue.record("failed for another reason")
            return
        }
    }

    @Test func `a file whose header claims the largest size is read, and none is sought behind it`() async throws {
        let chunk = Array("junk".utf8) + [4, 0, 0, 0, 1, 2, 3, 4]
        let path = try await changed("hostile-size.wav", ["-rf64", "always"]) { bytes in
            bytes.replaceSubrange(20..<28, with: Self.largest)
            bytes += chunk
        }
        #expect(try await convert(path, Rendition(format: "wav")).result.samples > 130_000)
    }

    @Test func `an ASF file whose header claims the largest size is read`() async throws {
        let path = try await changed("hostile.wma") { $0.replaceSubrange(16..<24, with: Self.largest) }
        #expect(try await convert(path, Rendition(format: "wav")).result.samples > 130_000)
    }

    @Test func `a broadcast file whose time reference is the largest is cut`() async throws {
        let path = try await changed("hostile.wav", ["-write_bext", "1"]) { bytes in
            let chunk = try #require(bytes.firstRange(of: Array("bext".utf8))).upperBound + 4
            bytes.replaceSubrange(chunk + 338..<chunk + 346, with: [UInt8](repeating: 0xFF, count: 8))
        }
        let converted = try await convert(path, Rendition(format: "wav"), start: MediaTime(parsing: "1")!)
        #expect(converted.result.samples == 2 * 44_100)
    }

    @Test func `a file with the declared length of the one it was cut from is whole`() async throws {
        let whole = try await convert(try await Studio.shared.music(), Rendition(format: "m4a"))
        var bytes = try fileBytes(whole.path)
        let fields = Array(" 00000000000204CC ".utf8)
        let place = try #require(bytes.firstRange(of: fields), "132,300 samples")
        bytes.replaceSubrange(place, with: Array(" 00000000001204CC ".utf8))
        let path = try Studio.shared.folder.write("stale.m4a", Data(bytes))
        let result = try await convert(path, Rendition(format: "wav")).result
        #expect(result.damage.events == 0)
        #expect((132_300..<134_700).contains(result.samples))
    }

    @Test func `byte ranges that add up beyond all files are refused`() async throws {
        var lines = ["#EXTM3U", "#EXT-X-TARGETDURATION:1"]
        for index in 0..<9000 {
            lines += ["#EXTINF:1,", "#EXT-X-BYTERANGE:\(Int64(1) << 50)\(index == 0 ? "@0" : "")", "a.ts"]
        }
        let text = Array(lines.joined(separator: "\n").utf8)
        #expect(throws: PlaylistError.self) { try HLSPlaylist.parse(text) }
    }

    /// A station that sends a file from its middle on, and of which what lies behind the reader is gone.
    private final class Station: ByteSource {
        private let bytes: [UInt8]
        private var furthest = 0
        init(_ bytes: [UInt8]) { self.bytes = bytes }

        var length: Int64 { .max }
        var isEndless: Bool { true }

        func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) throws -> Int {
            let start = Int(min(offset, Int64(bytes.count)))
            let count = min(buffer.count, bytes.count - start, 65_536)
            guard count > 0 else { return 0 }
            let kept = furthest - 262_144
            for index in 0..<count { buffer[index] = start + index < kept ? 0 : bytes[start + index] }
            furthest = max(furthest, start + count)
            return count
        }
    }

    @Test func `a station's AAC is read from the middle of a frame on`() async throws {
        let path = try await Studio.shared.source(
            "station.aac", ["-f", "lavfi", "-i", "sine=440:r=44100:d=40", "-ac", "2", "-b:a", "128k"])
        let bytes = Array(try fileBytes(path).dropFirst(150))
        let result = try await onThread {
            let plan = SourceSettings(range: TimeRange(start: .zero, end: MediaTime(parsing: "30")!))
            var reader = try AssetReader.open(Station(bytes), plan, stop: CancellationFlag())
            let frame = try Frame()
            var samples = 0
            while try reader.next(into: frame) { samples += frame.samples }
            return (samples, reader.damage.seconds)
        }
        #expect(result.0 == 1_323_000)
        #expect(result.1 < 0.1)
    }

    @Test func `titles are kept up to the number that one report takes`() throws {
        var titles = TitleTimes(Station([]))
        for index in 0..<5000 { titles.add("Title \(index)", at: Double(index)) }
        #expect(titles.titles.count > 500)
        #expect(titles.titles.count + titles.leftOut == 5000)
        #expect(try JSONEncoder().encode(titles.titles).count < 100_000)
    }
}
