import Bytes
import Containers
import Demuxing
import Lifecycle
import MediaTypes
import TestSupport
import Testing

/// The table of containers: one row for each that is more than generic.
@Suite(.failureReport, .timeLimit(.minutes(5))) struct ContainerTests {
    /// A file of each container that ffmpeg writes: its name, and what ffmpeg is told.
    private static let rows: [(Container, String, [String])] = [
        (.ac3, "row.ac3", []), (.adts, "row.aac", []), (.dts, "row.dts", ["-strict", "-2", "-c:a", "dca"]),
        (.eac3, "row.eac3", []), (.gsm, "row.gsm", ["-ar", "8000", "-ac", "1"]),
        (.loas, "row.latm", ["-c:a", "aac"]), (.mlp, "row.mlp", ["-strict", "-2"]), (.mp3, "row.mp3", []),
        (.trueHD, "row.thd", ["-strict", "-2"]), (.flac, "row.flac", []), (.ogg, "row.opus", []),
        (.trueAudio, "row.tta", []), (.wavPack, "row.wv", []), (.aiff, "row.aiff", []), (.caf, "row.caf", []),
        (.sun, "row.au", []), (.wave, "row.wav", []), (.wave64, "row.w64", []), (.asf, "row.wma", []),
        (.avi, "row.avi", []), (.flash, "row.flv", ["-c:a", "libmp3lame"]), (.matroska, "row.mka", []),
        (.mpegProgram, "row.mpg", ["-c:a", "mp2"]), (.mpegTransport, "row.ts", []), (.mp4, "row.m4a", []),
        (.mxf, "row.mxf", ["-c:a", "pcm_s16le", "-ar", "48000", "-ac", "1", "-f", "mxf_opatom"]),
        (.nut, "row.nut", ["-c:a", "libvorbis"]), (.realMedia, "row.rm", ["-c:a", "ac3"]), (.adx, "row.adx", []),
        (.apm, "row.apm", []), (.ast, "row.ast", []),
        (.kvag, "row.vag", ["-ac", "1", "-ar", "22050"]), (.sox, "row.sox", []), (.generic, "row.voc", []),
    ]

    @Test(arguments: rows)
    func `a container is recognised, and its descriptor fits its file`(
        _ container: Container, _ name: String, _ arguments: [String]
    ) async throws {
        let source = try MemoryFile(path: try await Studio.shared.music(as: name, arguments))
        let demuxer = try Demuxer.open(source, stop: CancellationFlag())
        #expect(Container(demuxer: demuxer.formatName) == container)
        #expect(demuxer.warnings.isEmpty)
        #expect(try Truncation.found(source, demuxer.descriptor) == nil)
        // A container that declares its end shows that more than its last packet is missing.
        let half = MemoryFile(Array(source.bytes.prefix(source.bytes.count / 2 - 1)))
        let declaresEnd = if case .undeclared = container.descriptor.extent { false } else { true }
        #expect(try Truncation.found(half, demuxer.descriptor) != nil || !declaresEnd)
    }

    @Test func `each container has a row, but for those that nobody here can write`() {
        let unwritten: Set<Container> = [.ape, .dtsHD, .musepack]
        #expect(Set(Self.rows.map(\.0)).union(unwritten) == Set(Container.allCases))
    }
}
