import Bytes
import Conversion
import Decoding
import Encoding
import FoundationEssentials
import Glibc
import Lifecycle
import MediaTypes
import TestSupport
import Testing

@Suite(.failureReport, .timeLimit(.minutes(5))) struct OutputCheckTests {
    /// A disk that forgets: from some place on, the bytes come back as zeros.
    private final class ForgetfulStore: RandomAccessOutput {
        private let store: DescriptorStore
        private let lost: Range<Int64>

        init(_ store: DescriptorStore, lost: Range<Int64>) {
            self.store = store
            self.lost = lost
        }

        var length: Int64 { get throws { try store.length } }

        func write(_ bytes: UnsafeRawBufferPointer, at offset: Int64) throws { try store.write(bytes, at: offset) }

        func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) throws -> Int {
            let count = try store.read(into: buffer, at: offset)
            for index in 0..<count where lost.contains(offset + Int64(index)) { buffer[index] = 0 }
            return count
        }
    }

    @Test(arguments: ["mp3", "adts", "ac3", "ogg", "opus", "flac", "mka", "wv"])
    func `packets that are missing from a finished file are found`(_ format: String) async throws {
        let source = try await Studio.shared.music(seconds: 6)
        for lost: Range<Int64> in [0..<0, 20_000..<120_000] {
            let path = await Studio.shared.output("bin")
            let error: MediaError? = try await onThread {
                let input = Descriptor(owning: open(source, O_RDONLY | O_CLOEXEC))
                let output = Descriptor(owning: open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600))
                let store = ForgetfulStore(DescriptorStore(borrowing: output.number), lost: lost)
                do {
                    _ = try Converter.run(
                        source: DescriptorSource(borrowing: input.number), store: store,
                        rendition: Rendition(format: format), range: .whole, stop: CancellationFlag(),
                        progress: { _ in })
                    return nil
                } catch { return error as? MediaError }
            }
            #expect((error == nil) == lost.isEmpty)
            if let error { #expect(error.operation == "check the output", "\(error)") }
        }
    }

    @Test func `samples that look like a frame of FLAC do not mislead the check`() async throws {
        // Noise is stored as it is, and this begins a fourth frame of 4608 samples of one channel (RFC 9639, 9.1).
        let header: [UInt16] = [0xFFF8, 0x5908, 0x0335]
        var noise = Noise(state: 1)
        var samples = (0..<12_800).map { _ in Int16.random(in: .min ... .max, using: &noise) }
        samples.replaceSubrange(9700..<9703, with: header.map { Int16(bitPattern: $0) })
        let source = try await wave(samples, "s16le")
        let made = try await convert(source, Rendition(format: "flac"))
        #expect(try await made.result.audioMD5 == md5(source, "s16le"))
        // libav is misled, and so is its decoder.
        try #require(try await ffprobe(made.path, "stream=nb_read_packets", ["-count_packets"]) == "4")
    }
}
