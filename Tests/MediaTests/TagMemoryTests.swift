import Glibc
import MediaTypes
import Testing

@testable import Media

@Suite struct TagMemoryTests {
    @Test func `fails where the memory does not suffice instead of leaving tags out or ending the process`() async {
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
                #expect(error?.sentence.contains("memory does not suffice") == true, "\(format)")
            }
        }
    }
}
