import Encoding
import FoundationEssentials
import MediaTypes
import TestSupport
import Testing

@testable import Bytes

/// Sources that end too early, in each container, and the table of docs/errors.md of what cannot be seen.
@Suite(.failureReport, .timeLimit(.minutes(5))) struct CutSourceTests {
    /// A container, as ffmpeg writes it, and what it shows of a cut.
    struct Row: CustomTestStringConvertible, Sendable {
        let name: String
        var arguments: [String] = []
        /// The places at which a cut is not seen.
        var unseen = Unseen.nowhere
        /// How many of the last bytes do not belong to the sound.
        var behind = 0
        var testDescription: String { name }
    }

    /// Where a cut is not seen.
    enum Unseen: Sendable {
        case nowhere
        /// Behind any packet, whose offset and size ffprobe reports. In its container, it may have a header.
        case behindPackets(header: Int = 0)
        /// So many bytes in front of a mark.
        case inFront(of: String, bytes: Int)
    }

    private static let rows: [Row] = [
        Row(name: "c.wav"), Row(name: "c.aiff"), Row(name: "c.caf"), Row(name: "c.au"), Row(name: "c.w64"),
        Row(name: "c.flac"), Row(name: "c.wv"), Row(name: "c.tta", arguments: ["-fflags", "+bitexact"]),
        Row(name: "c.ogg", arguments: ["-c:a", "libvorbis"]),
        Row(name: "c.opus"), Row(name: "c.mp3"), Row(name: "c.m4a"),
        Row(
            name: "fragments.mp4", arguments: ["-movflags", "frag_keyframe+empty_moov", "-frag_duration", "500000"],
            unseen: .inFront(of: "moof", bytes: 4)),
        Row(name: "c.mka", arguments: ["-c:a", "flac"]), Row(name: "c.webm", arguments: ["-c:a", "libopus"]),
        Row(
            name: "live.webm", arguments: ["-c:a", "libopus", "-live", "1", "-cluster_time_limit", "500"],
            unseen: .inFront(of: "\u{1F}\u{43}\u{B6}\u{75}", bytes: 0)),
        Row(name: "c.flv", arguments: ["-c:a", "libmp3lame"]),
        Row(
            name: "live.flv", arguments: ["-c:a", "libmp3lame", "-flvflags", "no_duration_filesize"],
            unseen: .behindPackets(header: 12)),
        Row(name: "c.ts", arguments: ["-c:a", "aac"], unseen: .inFront(of: "\u{47}\u{41}\u{0}", bytes: 0)),
        Row(name: "c.avi"), Row(name: "c.wma"),
        Row(name: "c.nut", arguments: ["-c:a", "libvorbis"]), Row(name: "c.rm", arguments: ["-c:a", "ac3"], behind: 8),
        Row(name: "bare.mp3", arguments: ["-write_xing", "0", "-id3v2_version", "0"], unseen: .behindPackets()),
        Row(name: "c.mp2", unseen: .behindPackets()), Row(name: "c.aac", unseen: .behindPackets()),
        Row(name: "c.ac3", unseen: .behindPackets()), Row(name: "c.eac3", unseen: .behindPackets()),
    ]

    @Test(arguments: rows)
    func `a cut is reported at every place but those of the table`(_ row: Row) async throws {
        let path = try await Studio.shared.music(as: "cut-" + row.name, ["-t", "3"] + row.arguments)
        let bytes = try fileBytes(path)
        #expect(try outcome(bytes) == .silent)
        let unseen = try await places(row.unseen, path, bytes)
        for number in 1...10 {
            let place = bytes.count * number / 11
            let isUnseen = unseen.contains(place)
            #expect(
                try outcome(Array(bytes[..<place])) == (isUnseen ? .silent : .reported), "\(place) of \(bytes.count)")
        }
        #expect(try outcome(bytes.dropLast(row.behind + 5)) == .reported)
        if !unseen.isEmpty { #expect(try outcome(Array(bytes[..<unseen[unseen.count / 2]])) == .silent) }
    }

    private func places(_ unseen: Unseen, _ path: String, _ bytes: [UInt8]) async throws -> [Int] {
        switch unseen {
        case .nowhere: return []
        case .inFront(let mark, let count):
            let mark = mark.unicodeScalars.map { UInt8($0.value) }
            return (0..<bytes.count - 4).filter { bytes[$0..<$0 + mark.count].elementsEqual(mark) }.map { $0 - count }
        case .behindPackets(let header):
            let outcome = try await WarmProgram.ffprobe.run(
                ["-v", "error", "-show_entries", "packet=pos,size", "-of", "csv=p=0", path])
            return outcome.output.split(separator: "\n").compactMap { line in
                let numbers = line.split(separator: ",").compactMap { Int($0) }
                return numbers.count == 2 ? numbers[0] + header + numbers[1] : nil
            }
        }
    }

    private enum Outcome { case silent, reported }

    private func outcome(_ bytes: [UInt8]) throws -> Outcome {
        do {
            let warnings = try MemoryFile(bytes).converted(to: Rendition(format: "wav")).result.warnings
            return warnings.contains { $0.code == "source_truncated" } ? .reported : .silent
        } catch is MediaError { return .reported }
    }

    @Test(arguments: [
        ("o.ogg", "libvorbis", 3), ("o.opus", "libopus", 2), ("o.oga", "flac", 2), ("o.spx", "libspeex", 2),
    ])
    func `an Ogg recording whose last page is not marked is whole, with a warning`(
        _ name: String, _ codec: String, _ headers: Int
    ) async throws {
        let rate = codec == "libspeex" ? "32000" : "48000"
        let arguments = ["-t", "1", "-ar", rate, "-ac", "1", "-c:a", codec, "-f", "ogg"]
        let file = OggFile(try fileBytes(try await Studio.shared.music(as: name, arguments)))
        func paged(isMarked: Bool) -> MemoryFile {
            MemoryFile(file.paged(headers: headers, [10], trim: 0, isMarked: isMarked))
        }
        let (whole, recording) = (paged(isMarked: true), paged(isMarked: false))
        let samples = try whole.samples()
        // Only a marked page declares padding (RFC 7845, section 4.4).
        #expect(try recording.samples().starts(with: samples) && samples.count > 30_000)
        for target in ["wav", "mka"] {
            let warnings = try recording.converted(to: Rendition(format: target)).result.warnings.map(\.code)
            #expect(warnings == ["source_truncated"], "\(target)")
        }
        #expect(try whole.converted(to: Rendition(format: "wav")).result.warnings.isEmpty)
        #expect(try outcome(Array(recording.bytes.dropLast())) == .reported)
        #expect(throws: MediaError.self) {
            try MemoryFile(recording.bytes.dropLast()).converted(to: Rendition(format: "wav"))
        }
    }

    private static let joined: [Row] = [
        Row(name: "j.wav"), Row(name: "j.aiff"), Row(name: "j.caf"), Row(name: "j.w64"), Row(name: "j.au"),
        Row(name: "j.m4a"), Row(name: "j.flv", arguments: ["-c:a", "aac"]), Row(name: "j.tta"),
        Row(name: "j.webm", arguments: ["-c:a", "libopus"]), Row(name: "j.mka", arguments: ["-c:a", "flac"]),
    ]

    @Test(arguments: joined)
    func `a warning tells of a file that follows the first one`(_ row: Row) async throws {
        let bytes = try fileBytes(try await Studio.shared.music(as: row.name, ["-t", "1"] + row.arguments))
        let one = try MemoryFile(bytes).converted(to: Rendition(format: "wav")).result
        let three = try MemoryFile(bytes + bytes + bytes).converted(to: Rendition(format: "wav")).result
        #expect(one.warnings.isEmpty && three.samples == one.samples)
        #expect(three.warnings.map(\.code) == ["file_follows"])
        let copy = try MemoryFile(bytes + bytes).converted(to: Rendition(format: "mka"))
        #expect(copy.result.warnings.contains { $0.code == "file_follows" })
        #expect(three.warnings.first?.message.contains("at byte \(bytes.count);") == true)
    }
}
