import Bytes
import Conversion
import Encoding
import FoundationEssentials
import Lifecycle
import MediaTypes
import TestSupport
import Testing

/// Sources that end early by what their container says, and sources behind whose end there is something else.
@Suite(.failureReport, .ownThread, .timeLimit(.minutes(5))) struct TruncationTests {
    private static let mxf = ["-c:a", "pcm_s16le", "-ar", "48000", "-ac", "1", "-f", "mxf_opatom"]
    private static let kinds: [(String, [String])] = [
        ("cut.flv", ["-c:a", "libmp3lame"]), ("cut.nut", ["-c:a", "libvorbis"]), ("cut.sox", []),
        ("cut.adx", []), ("cut.apm", []), ("cut.vag", []), ("cut.mxf", mxf),
        ("cut.thd", ["-strict", "-2"]), ("cut.mlp", ["-strict", "-2"]), ("cut.dts", ["-strict", "-2", "-c:a", "dca"]),
        ("cut.wv", []),
    ]

    @Test(arguments: kinds)
    func `the first part of a file never passes for the whole`(_ name: String, _ arguments: [String]) async throws {
        let bytes = try fileBytes(try await Studio.shared.music(as: name, arguments))
        #expect(try run(bytes).warnings.isEmpty)
        for count in [bytes.count / 100, bytes.count * 6 / 10, bytes.count * 99 / 100] {
            do {
                let samples = try run(Array(bytes.prefix(count))).samples
                Issue.record("\(name), \(count) of \(bytes.count) bytes: \(samples) samples")
            } catch let error as MediaError {
                guard count > bytes.count / 2 else { continue }
                guard case .truncated = error.reason else { Issue.record("\(name): \(error)"); continue }
            }
        }
    }

    @Test(arguments: ["cut.sox", "cut.apm", "cut.thd", "cut.dts"])
    func `a single missing byte is reported`(_ name: String) async throws {
        let arguments = Self.kinds.first { $0.0 == name }!.1
        let bytes = try fileBytes(try await Studio.shared.music(as: name, arguments)).dropLast()
        #expect(throws: MediaError.self) { try run(Array(bytes)) }
        #expect(try run(Array(bytes), .accept).warnings.map(\.code) == ["source_truncated"])
    }

    @Test func `a part that is missing behind the last sample causes a warning`() async throws {
        let bytes = try fileBytes(try await Studio.shared.music(as: "cut.wv"))
        let result = try run(bytes.dropLast())
        #expect(result.samples == 132_300)
        #expect(result.warnings.map(\.code) == ["source_truncated"])
    }

    private static let followed: [(String, [String])] = [
        ("tail.flac", []), ("tail.wv", []), ("tail.tta", []), ("tail.dts", ["-strict", "-2", "-c:a", "dca"]),
        ("tail.ac3", []), ("tail.eac3", []), ("tail.aac", []), ("tail.mp3", []), ("tail.wav", []), ("tail.m4a", []),
        ("fast-tail.m4a", ["-movflags", "+faststart"]),
        ("tail.caf", []), ("alac-tail.caf", ["-c:a", "alac"]), ("tail.au", []), ("tail.aiff", []), ("tail.opus", []),
        ("tail.sox", []), ("tail.thd", ["-strict", "-2"]), ("tail.mlp", ["-strict", "-2"]),
        ("tail.nut", ["-c:a", "libvorbis"]), ("tail.mp2", []), ("tail.gsm", ["-ar", "8000", "-ac", "1"]),
    ]

    @Test(arguments: followed)
    func `a file is read to its end whatever follows`(_ name: String, _ arguments: [String]) async throws {
        let bytes = try fileBytes(try await Studio.shared.music(as: "short-" + name, ["-t", "2"] + arguments))
        let whole = try run(bytes)
        for (kind, tail) in Self.tails {
            let result = try run(bytes + tail)
            #expect(result.samples == whole.samples, "\(name), \(kind)")
            #expect(result.damage == Damage(seconds: 0, events: 0), "\(name), \(kind)")
            #expect(result.warnings.allSatisfy { $0.code == "junk_skipped" }, "\(name), \(kind): \(result.warnings)")
        }
    }

    @Test(arguments: [("tail.w64", [], 4), ("tail.gsm", ["-ar", "8000", "-ac", "1"], 5)])
    func `a file is read to its end whatever tags follow`(
        _ name: String, _ arguments: [String], _ count: Int
    ) async throws {
        let bytes = try fileBytes(try await Studio.shared.music(as: name, arguments))
        let whole = try run(bytes)
        for (kind, tail) in Self.tails.prefix(count) {
            let result = try run(bytes + tail)
            #expect(result.samples == whole.samples, "\(name), \(kind)")
            let expected = kind == "a line's end" ? ["junk_skipped"] : []
            #expect(result.warnings.map(\.code) == expected, "\(name), \(kind): \(result.warnings)")
        }
    }

    /// What is found behind music files: old tags, large ones with a picture, a line's end, and the rest of a sector.
    private static let tails: [(String, [UInt8])] = [
        ("ID3v1", old), ("APE", ape(200)), ("a large APE", ape(60_000)), ("APE and ID3v1", ape(90) + old),
        ("a line's end", [13, 10]),
        ("other bytes", (0..<700).map { UInt8(truncatingIfNeeded: $0 &* $0 >> 3 &* 167) & 0x7F }),
    ]

    private static let old = Array("TAGTitle".utf8) + [UInt8](repeating: 0, count: 120)

    private static func ape(_ size: Int) -> [UInt8] {
        let item = little(size) + little(0) + Array("Title".utf8) + [0] + [UInt8](repeating: 0x78, count: size)
        func end(_ flags: Int) -> [UInt8] {
            Array("APETAGEX".utf8) + little(2000) + little(item.count + 32) + little(1) + little(flags)
                + [UInt8](repeating: 0, count: 8)
        }
        return end(0xA000_0000) + item + end(0x8000_0000)
    }

    private static func little(_ value: Int) -> [UInt8] { (0..<4).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) } }

    private func run(_ bytes: [UInt8], _ policy: DamagePolicy = .fail) throws -> ConversionResult {
        let plan = ConversionPlan(source: SourceSettings(damage: policy), renditions: [Rendition(format: "wav")])
        return try Converter.run(
            source: MemoryFile(bytes), stores: OneStore(MemoryFile()), plan: plan, stop: CancellationFlag(),
            progress: { _ in }
        )[0].get()
    }
}
