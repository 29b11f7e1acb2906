import Bytes
import Demuxing
import Encoding
import Glibc
import Lifecycle
import MediaTypes
import Tags
import TestSupport
import Testing

@Suite(.failureReport, .timeLimit(.minutes(5))) struct TagMemoryTests {
    // Under a sanitizer there is no limit that a process keeps, and memory that is short ends it.
    @Test(.enabled(if: getenv("RESPOOL_MEMORY_LIMIT").map { String(cString: $0) } != "off"))
    func `a lack of memory fails the conversion instead of dropping tags or ending the process`() async {
        await #expect(processExitsWith: .success) {
            var metadata = Metadata()
            metadata.texts["TITLE"] = ["one"]
            metadata.pictures = [
                Metadata.Picture(
                    kind: 3, mediaType: "image/jpeg", description: "", bytes: [UInt8](repeating: 7, count: 200 << 20))
            ]
            let statm = try fileBytes("/proc/self/statm").split(separator: 0x20)[0]
            let mapped = try #require(UInt(String(decoding: statm, as: UTF8.self))) * UInt(getpagesize())
            // Room for one copy of the picture, and not for two.
            var limit = rlimit(rlim_cur: mapped + 300 << 20, rlim_max: mapped + 300 << 20)
            try #require(setrlimit(__rlimit_resource_t(RLIMIT_AS.rawValue), &limit) == 0)
            for (format, codec) in [("mp3", "mp3"), ("opus", "opus"), ("wv", "wavpack"), ("m4a", "aac")] {
                var writer = TagWriter(
                    metadata, TagSettings(), format: try #require(AudioFormat.named(format)),
                    codec: try #require(AudioCodec.named(codec)), rate: 48_000, sourceRate: 48_000)
                let error = #expect(throws: MediaError.self) { try writer.finish(MemoryFile()) }
                #expect(error?.sentence.contains("out of memory") == true, "\(format)")
            }
        }
    }
    @Test func `pictures that inflate from a few bytes are not inflated by libav`() async throws {
        let path = await Studio.shared.output("id3")
        _ = try await ChildProcess.run("/usr/bin/python3", [Script.path("deflated_pictures.py"), path])
        let tag = try fileBytes(path)
        #expect(tag.count < 40_000)
        let wave = try fileBytes(try await Studio.shared.music())
        let chunk = Array("id3 ".utf8) + (0..<4).map { UInt8(truncatingIfNeeded: tag.count >> (8 * $0)) } + tag
        for bytes in [tag + (try fileBytes(try await Studio.shared.music(as: "swollen.mp3"))), wave + chunk] {
            let demuxer = try Demuxer.open(MemoryFile(bytes), stop: CancellationFlag())
            // libav makes a stream of each picture, beside which not all packets would come.
            let isAlone = demuxer.givesAllPackets
            #expect(isAlone)
            let made = try MemoryFile(bytes).converted(to: Rendition(format: "flac"))
            #expect(made.result.samples == 132_300)
        }
    }
}
