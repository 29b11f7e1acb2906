import Bytes
import Conversion
import Encoding
import FoundationEssentials
import Lifecycle
import MediaTypes
import TestSupport
import Testing

/// FLAC files whose frames are all intact, and are not those that the file's MD5 was made of.
@Suite(.failureReport, .ownThread, .timeLimit(.minutes(5))) struct WrongFrameTests {
    @Test(arguments: ["foreign", "twice", "inserted", "first", "behind", "swapped"])
    func `foreign frames are found by the MD5 of the file`(_ kind: String) async throws {
        let bytes = try await file(kind)
        let path = try Studio.shared.folder.write("frames-\(kind).flac", bytes)
        #expect(try await !ChildProcess.run("flac", ["-s", "-t", path]).succeeded)
        for target in ["wav", "flac"] {
            let error = #expect(throws: MediaError.self) { try run(bytes, target, .fail) }
            #expect(error?.sentence.contains("the MD5 of the decoded samples differs") == true, "\(error as Any)")
            let result = try run(bytes, target, .accept)
            let codes = result.warnings.map(\.code)
            #expect(
                codes.contains("md5_mismatch") && Set(codes).isSubset(of: ["md5_mismatch", "junk_skipped"]), "\(codes)")
            // One that is encoded anew has a sum of its own.
            if target == "wav" || result.copied { #expect(result.audioMD5 == nil) }
        }
    }

    @Test(arguments: ["wav", "flac"])
    func `a frame of another depth is reported as damage, in a copy as well`(_ target: String) async throws {
        let bytes = try await file("wider")
        let path = try Studio.shared.folder.write("frames-wider-\(target).flac", bytes)
        #expect(try await !ChildProcess.run("flac", ["-s", "-t", path]).succeeded)
        for policy in [DamagePolicy.fail, .accept] {
            let result = try run(bytes, target, policy)
            #expect(result.warnings.contains { ["damaged", "md5_mismatch"].contains($0.code) })
            #expect(result.copied == (target == "flac"))
            #expect(result.audioMD5 == nil)
        }
    }

    @Test func `a copy of intact frames keeps the MD5`() async throws {
        let bytes = try await file("intact")
        let result = try run(bytes, "flac", .fail)
        #expect(result.copied)
        #expect(result.warnings.isEmpty)
        #expect(result.audioMD5 == bytes[26..<42].map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined())
    }

    private func run(_ bytes: [UInt8], _ format: String, _ policy: DamagePolicy) throws -> ConversionResult {
        var rendition = Rendition(format: format)
        rendition.passthrough = .auto
        let plan = ConversionPlan(source: SourceSettings(damage: policy), renditions: [rendition])
        return try Converter.run(
            source: MemoryFile(bytes), stores: OneStore(MemoryFile()), plan: plan, stop: CancellationFlag(),
            progress: { _ in }
        )[0].get()
    }

    private func file(_ kind: String) async throws -> [UInt8] {
        let (head, own) = Self.split(try fileBytes(try await Studio.shared.music(as: "frames-own.flac")))
        // The filter gives floats, of which the encoder would make 24 bits.
        let (name, depth) = kind == "wider" ? ("frames-wider.flac", "s32") : ("frames-other.flac", "s16")
        let other = ["-af", "volume=0.5", "-sample_fmt", depth]
        let (_, foreign) = Self.split(try fileBytes(try await Studio.shared.music(as: name, other)))
        try #require(own.count > 20)
        var frames = own
        switch kind {
        case "foreign": frames[5] = foreign[5]
        case "twice": frames.insert(own[5], at: 6)
        case "inserted", "wider": frames.insert(foreign[9], at: 6)
        case "first": frames.insert(foreign[0], at: 0)
        case "behind": frames.append(foreign[3])
        case "swapped": frames.swapAt(5, 6)
        default: break
        }
        return head + frames.joined()
    }

    /// The metadata blocks of a file, and its frames: each begins with a header that has its CRC-8, and ends with its CRC-16
    /// (RFC 9639, 9.1 and 9.3).
    private static func split(_ bytes: [UInt8]) -> (head: [UInt8], frames: [[UInt8]]) {
        var first = 4
        while true {
            let isLast = bytes[first] & 0x80 != 0
            first += 4 + bytes[first + 1...first + 3].reduce(0) { $0 << 8 | Int($1) }
            if isLast { break }
        }
        var starts: [Int] = []
        for start in first..<bytes.count - 16 where bytes[start] == 0xFF && bytes[start + 1] & 0xFE == 0xF8 {
            let number = bytes[start + 4]
            var length = 4 + (number < 0x80 ? 1 : (~number).leadingZeroBitCount)
            length += [6: 1, 7: 2][bytes[start + 2] >> 4] ?? 0
            length += [12: 1, 13: 2, 14: 2][bytes[start + 2] & 15] ?? 0
            if FlacChecksum.ofHeader(bytes[start..<start + length]) == bytes[start + length] {
                starts.append(start)
            }
        }
        var frames: [[UInt8]] = []
        var start = first
        for end in starts.dropFirst() + [bytes.count] where FlacChecksum.ofFrame(bytes[start..<end]) == 0 {
            frames.append(Array(bytes[start..<end]))
            start = end
        }
        return (Array(bytes[..<first]), frames)
    }
}
