import FoundationEssentials
import TestSupport
import Testing

/// Cuts far into a source whose headers are out of line before them, so that no walk over them may be believed.
@Suite(.failureReport, .timeLimit(.minutes(5))) struct BrokenWalkTests {
    struct Break: CustomTestStringConvertible, Sendable {
        let testDescription: String
        let source: String
        let arguments: [String]
        let change: @Sendable (inout [UInt8]) throws -> Void
    }

    private static let breaks: [Break] = [
        .init(
            testDescription: "a tag of Flash video whose size is told otherwise behind it", source: "whole.flv",
            arguments: ["-c:a", "libmp3lame"]
        ) { bytes in bytes[try middleTag(bytes).end + 3] ^= 1 },
        .init(
            testDescription: "a tag of Flash video that is empty", source: "whole.flv",
            arguments: ["-c:a", "libmp3lame"]
        ) { bytes in
            let end = try middleTag(bytes).end + 4
            bytes.insert(contentsOf: [8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 11], at: end)
        },
        .init(
            testDescription: "a packet of MPEG-TS that is missing", source: "whole.ts", arguments: ["-c:a", "mp2"]
        ) { bytes in
            let packet = bytes.count / 188 / 2
            bytes.removeSubrange(packet * 188..<(packet + 1) * 188)
        },
        .init(
            testDescription: "a second of MPEG-TS that is missing", source: "whole.ts", arguments: ["-c:a", "mp2"]
        ) { bytes in
            // Continuity counters have four bits, so sixteen packets are not missed.
            let (packet, count) = (bytes.count / 188 / 2, bytes.count / 188 / 20 / 16 * 16)
            bytes.removeSubrange(packet * 188..<(packet + count) * 188)
        },
        .init(
            testDescription: "an entry of AVI's index that lies about a size", source: "whole.avi",
            arguments: ["-c:a", "libmp3lame"]
        ) { bytes in bytes[try middleEntry(bytes) + 12] ^= 0x10 },
        .init(
            testDescription: "an entry of AVI's index that lies about a place", source: "whole.avi",
            arguments: ["-c:a", "libmp3lame"]
        ) { bytes in bytes[try middleEntry(bytes) + 8] ^= 0x10 },
        .init(
            testDescription: "an entry of AVI's index that is another's", source: "whole.avi",
            arguments: ["-c:a", "libmp3lame"]
        ) { bytes in
            // So a chunk is missing in the list: its entry is that of the one before.
            let entry = try middleEntry(bytes)
            bytes.replaceSubrange(entry..<entry + 16, with: bytes[entry - 16..<entry])
        },
    ]

    @Test(arguments: breaks) func `a cut gives the samples of a whole decode`(_ broken: Break) async throws {
        let source = try await Studio.shared.source(
            broken.source,
            ["-f", "lavfi", "-i", "aevalsrc='0.4*sin(2*PI*(300*t+30*t*t))':s=44100:d=20"] + broken.arguments)
        var bytes = [UInt8](try Data(contentsOf: URL(filePath: source)))
        try broken.change(&bytes)
        let path = await Studio.shared.output("broken")
        try Data(bytes).write(to: URL(filePath: path))
        let whole = try await readChannel(path)
        try #require(whole.count > 44_100 * 18)
        for first in [whole.count * 2 / 5, whole.count * 3 / 4 - 777, whole.count * 19 / 20 + 13] {
            let cut = try await readChannel(path, from: Int64(first), to: Int64(first + 10_000))
            let expected = whole.bytes[first * whole.sampleBytes..<(first + 10_000) * whole.sampleBytes]
            #expect(cut.bytes == Array(expected), "\(first) of \(whole.count)")
        }
    }

    /// A tag of Flash video in the middle: where it begins, and where its size is told again.
    private static func middleTag(_ bytes: [UInt8]) throws -> (begin: Int, end: Int) {
        var begin = 13
        while begin + 11 < bytes.count {
            let end = begin + 11 + bytes[begin + 1...begin + 3].reduce(0) { $0 << 8 | Int($1) }
            if begin > bytes.count / 2 { return (begin, end) }
            begin = end + 4
        }
        throw Absent()
    }

    /// An entry in the middle of AVI's old index: `01wb`, flags, place, size.
    private static func middleEntry(_ bytes: [UInt8]) throws -> Int {
        let name = Array("idx1".utf8)
        guard let index = (0..<bytes.count - 8).last(where: { Array(bytes[$0..<$0 + 4]) == name }) else {
            throw Absent()
        }
        return index + 8 + (bytes.count - index - 8) / 32 * 16
    }

    private struct Absent: Error {}
}
