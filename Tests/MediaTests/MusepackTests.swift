import Bytes
import Conversion
import FoundationEssentials
import Glibc
import Lifecycle
import MediaTypes
import TestSupport
import Testing

/// Musepack, as its reference decoder gives it.
@Suite(.failureReport, .timeLimit(.minutes(5))) struct MusepackTests {
    /// So many samples of the music, encoded in stream version 8.
    private func encoded(_ length: Int) async throws -> String {
        let wave = try await Studio.shared.music(as: "pack-\(length).wav", ["-af", "atrim=end_sample=\(length)"])
        let path = await Studio.shared.output("mpc")
        let outcome = try await ChildProcess.run("mpcenc", ["--silent", "--overwrite", wave, path])
        try #require(outcome.succeeded, "\(outcome.errors)")
        return path
    }

    /// What mpcdec gives.
    private func judged(_ path: String) async throws -> [Int16] {
        let wave = await Studio.shared.output("wav")
        let outcome = try await ChildProcess.run("mpcdec", [path, wave])
        try #require(outcome.succeeded, "\(outcome.errors)")
        let bytes = try fileBytes(wave)
        let data = try #require(bytes.firstRange(of: Array("data".utf8))).upperBound + 4
        return bytes[data...].withUnsafeBytes { raw in
            (0..<raw.count / 2).map { raw.loadUnaligned(fromByteOffset: 2 * $0, as: Int16.self) }
        }
    }

    /// Compares a file with what mpcdec gives of it.
    private func compare(_ path: String) async throws -> Int {
        let judged = try await judged(path)
        let (found, length) = try await onThread {
            let file = try MemoryFile(path: path)
            return (try file.samples(), try Probe.of(file, stop: CancellationFlag()).duration)
        }
        #expect(found.count == judged.count)
        #expect(length == MediaTime(sample: Int64(found.count / 2), rate: 44_100))
        let isAlike = zip(found, judged).allSatisfy { abs($0 * 32_768 - Float($1)) <= 2 }
        #expect(isAlike)
        return found.count / 2
    }

    @Test(arguments: [1, 671, 672, 1152, 46_080, 100_000])
    func `encoder delay and padding are left out`(_ length: Int) async throws {
        #expect(try await compare(try await encoded(length)) == length)
    }

    @Test func `a cut without encoding begins where its header says`() async throws {
        let path = try await encoded(120_000)
        let cut = await Studio.shared.output("mpc")
        let outcome = try await ChildProcess.run("mpccut", ["-s", "40000", "-e", "90000", path, cut])
        try #require(outcome.succeeded, "\(outcome.errors)")
        #expect(try await compare(cut) > 0)
    }

    @Test func `a range counts from the first sample behind the delay`() async throws {
        let file = try MemoryFile(path: try await encoded(100_000))
        let whole = try file.samples()
        let part = try file.converted(
            to: Rendition(format: "wav", sampleFormat: .f32), start: MediaTime(sample: 5000, rate: 44_100),
            end: MediaTime(sample: 90_000, rate: 44_100)
        ).file.samples()
        let isSame = part == Array(whole[10_000..<180_000])
        #expect(isSame)
    }

    @Test(arguments: [60, 97])
    func `a file that is cut short is no success`(_ percent: Int) async throws {
        for bytes in [try fileBytes(try await encoded(100_000)), Self.seventh(frames: 200, last: 500)] {
            let count = bytes.count * percent / 100
            do {
                let samples = try MemoryFile(Array(bytes.prefix(count))).samples().count
                Issue.record("\(count) of \(bytes.count) bytes: \(samples) samples")
            } catch let error as MediaError {
                guard case .truncated = error.reason else { Issue.record("\(error)"); continue }
            }
        }
    }

    @Test(arguments: [100, 671, 672, 1000, 0])
    func `stream version 7 gives as many samples as mpcdec`(_ last: Int) async throws {
        let path = try Studio.shared.folder.write("seventh-\(last).mpc", Self.seventh(frames: 20, last: last))
        #expect(try await compare(path) == 19 * 1152 + (last == 0 ? 1152 : last))
    }

    /// Silence in stream version 7: bits in words of 32, of which the last byte comes first.
    private static func seventh(frames: Int, last: Int) -> [UInt8] {
        var bits: [Bool] = []
        func put(_ value: Int, _ width: Int) {
            for place in (0..<width).reversed() { bits.append(value >> place & 1 != 0) }
        }
        // Four bands, the usual profile, no gains; then that the last frame's length counts, and the encoder's version.
        put(3, 8)
        put(10, 4)
        put(0, 20)
        put(0, 32)
        put(0, 32)
        put(1, 1)
        put(last, 11)
        put(0, 20)
        put(115, 8)
        func putFrames(_ count: Int) {
            for _ in 0..<count {
                put(14, 20)
                put(0x3F, 14)
            }
            put(last, 11)
        }
        putFrames(frames)
        // One frame more is not counted.
        if last == 0 || last > 671 { putFrames(1) }
        while bits.count % 32 != 0 { bits.append(false) }
        var bytes = Array("MP+".utf8) + [7]
        bytes += (0..<4).map { UInt8(truncatingIfNeeded: frames >> (8 * $0)) }
        for word in stride(from: 0, to: bits.count, by: 32) {
            let octets = (0..<4).map { octet in
                bits[(word + 8 * octet)...].prefix(8).reduce(UInt8(0)) { $0 << 1 | ($1 ? 1 : 0) }
            }
            bytes += octets.reversed()
        }
        return bytes + [UInt8](repeating: 0, count: 8)
    }
}
