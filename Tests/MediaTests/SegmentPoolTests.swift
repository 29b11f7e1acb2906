import Bytes
import Conversion
import Encoders
import Encoding
import FoundationEssentials
import Glibc
import Lifecycle
import MediaTypes
import TestSupport
import Testing

/// Encodes with several threads, and compares the result with that of one encoder.
@Suite(.failureReport, .timeLimit(.minutes(5))) struct SegmentPoolTests {
    /// A rising tone, clicks that start short blocks, and noise, in 16 bits: more than two segments. A low rate and one channel are
    /// enough wherever the rule of a joint does not depend on them.
    private static func material(rate: Int = 16_000, channels: Int = 1) async throws -> String {
        let click = "0.4*lt(mod(t,0.37),0.003)*sin(9000*t)"
        let left = "0.3*sin(2*PI*(200+9*t)*t)+\(click)+0.05*(random(0)-0.5)"
        let right = "0.2*sin(2*PI*330*t+3*sin(2*PI*t))+\(click)"
        let sound = channels == 1 ? left : left + "|" + right
        return try await Studio.shared.source(
            "material-\(rate)-\(channels).wav",
            ["-f", "lavfi", "-i", "aevalsrc='\(sound)':s=\(rate):d=34", "-c:a", "pcm_s16le"])
    }

    /// The files of one encoder, each made once.
    private actor SerialFiles {
        private struct Key: Hashable {
            let source: String
            let rendition: Rendition
        }
        private var made: [Key: Task<Converted, any Error>] = [:]

        func converted(_ source: String, _ rendition: Rendition) async throws -> Converted {
            let key = Key(source: source, rendition: rendition)
            let task = made[key] ?? Task { try await convert(source, rendition) }
            made[key] = task
            return try await task.value
        }
    }

    private static let serial = SerialFiles()

    private static func threads(_ count: Int) -> ThreadBudget { ThreadBudget(count, isFixed: true) }

    /// The time, the duration and the digest of each packet, and what its side data says.
    private static func packets(_ path: String) async throws -> [String] {
        let outcome = try await WarmProgram.ffprobe.run([
            "-v", "error", "-select_streams", "a:0", "-show_data_hash", "md5", "-show_entries",
            "packet=pts,duration,size,data_hash:packet_side_data", "-of", "compact=p=0", path,
        ])
        return outcome.output.split(separator: "\n").map(String.init)
    }

    /// The packets without what differs between two encoders.
    private static func times(_ packets: [String]) -> [String] {
        packets.map { line in
            line.split(separator: "|").filter { !$0.hasPrefix("size=") && !$0.hasPrefix("data_hash=") }
                .joined(separator: "|")
        }
    }

    @Test(
        arguments: [
            Rendition(format: "flac"), Rendition(format: "flac", channels: 6, sampleFormat: .s24),
            Rendition(format: "tta"),
            Rendition(format: "m4a", codec: "alac"), Rendition(format: "ac3"), Rendition(format: "eac3"),
            Rendition(format: "eac3", bitRate: 256_000, channels: 6), Rendition(format: "mp2"),
            Rendition(format: "mp2", bitRate: 64_000, sampleRate: 22_050), Rendition(format: "wma"),
            Rendition(format: "wma", bitRate: 24_000, sampleRate: 8000, channels: 1),
        ])
    func `a file of a codec whose joints are exact has the bytes of a single encoder's`(rendition: Rendition)
        async throws
    {
        // At low rates, segments of whole groups of frames are longer.
        let isGrouped = ["ac3", "eac3", "mp2"].contains(rendition.format)
        // Two channels, because encoders code the difference between them.
        let source = try await Self.material(rate: isGrouped ? 44_100 : 16_000, channels: 2)
        let serial = try await Self.serial.converted(source, rendition)
        #expect(serial.result.encoders == nil)
        // With two threads, one of them makes a second segment, if it can with the same encoder: FLAC's cannot, and MP2's can.
        for count in ["flac", "mp2"].contains(rendition.format) ? [2, 3] : [3] {
            let joined = try await convert(source, rendition, threads: Self.threads(count))
            #expect(try #require(joined.result.encoders).joints >= 2)
            #expect(joined.result.encoders?.fallbacks == 0)
            #expect(try fileBytes(joined.path) == fileBytes(serial.path))
        }
    }

    @Test(arguments: [("spare.flac", []), ("spare.mp3", ["-q:a", "4"])])
    func `bytes do not depend on how many threads decode`(_ name: String, _ arguments: [String]) async throws {
        let source = try await Studio.shared.source(name, ["-i", try await Self.material()] + arguments)
        let rendition = Rendition(format: "m4a", codec: "alac")
        let serial = try await convert(source, rendition)
        for count in [2, 5] {
            let joined = try await convert(source, rendition, threads: Self.threads(count))
            #expect(joined.result.samples == serial.result.samples)
            #expect(try fileBytes(joined.path) == fileBytes(serial.path))
        }
    }

    @Test func `settings whose joints are not proven have one encoder`() async throws {
        // As long as a segment or shorter: whether there may be several encoders is decided at the start.
        let (source, end) = (try await Self.material(), MediaTime(value: 1, timescale: 1))
        let alone = [
            Rendition(format: "m4a", quality: 1.1), Rendition(format: "eac3", bitRate: 131_072),
            Rendition(format: "opus", bitRate: 63_000), Rendition(format: "opus", bitRate: 287_000, channels: 6),
            Rendition(format: "speex", channels: 2), Rendition(format: "wv"),
        ]
        for rendition in alone {
            #expect(try await convert(source, rendition, end: end, threads: Self.threads(3)).result.encoders == nil)
        }
        let several = [
            Rendition(format: "m4a", quality: 1), Rendition(format: "opus", bitRate: 288_000, channels: 6),
            Rendition(format: "flac") { $0.compressionLevel = 2 },
        ]
        for rendition in several {
            #expect(try await convert(source, rendition, end: end, threads: Self.threads(3)).result.encoders != nil)
        }
    }

    /// `make joints` compares more numbers of threads, for all of these.
    @Test(
        arguments: [
            (Rendition(format: "mp3", bitRate: 128_000), [2, 3]), (Rendition(format: "mp3", quality: 2), [3]),
            (Rendition(format: "mp3") { $0.bitRateMode = .abr }, [3]),
            (Rendition(format: "mp3") { $0.compressionLevel = 7 }, [3]),
            (Rendition(format: "opus", bitRate: 96_000), [2, 3]),
            // The least complexity where another setting is tried.
            (Rendition(format: "opus", sampleRate: 24_000) { $0.compressionLevel = 0 }, [3]),
            (Rendition(format: "opus", sampleRate: 8000, channels: 1) { $0.compressionLevel = 0 }, [3]),
            (Rendition(format: "opus") { ($0.frameDuration, $0.compressionLevel) = (120, 0) }, [3]),
            (Rendition(format: "opus") { ($0.bitRateMode, $0.compressionLevel) = (.cbr, 0) }, [3]),
            (
                Rendition(format: "opus", bitRate: 32_000) {
                    ($0.application, $0.compressionLevel) = (.lowdelay, 0)
                }, [3]
            ),
            (Rendition(format: "speex", sampleRate: 8000, channels: 1), [2, 3]),
        ])
    func `packets have the times of a single encoder's, and do not depend on the number of threads`(
        rendition: Rendition, counts: [Int]
    ) async throws {
        // The first settings of MP3 and Opus, at the usual rate.
        let isUsual = [96_000, 128_000].contains(rendition.bitRate)
        let source = try await isUsual ? Self.material(rate: 44_100, channels: 2) : Self.material()
        let serial = try await Self.packets(try await Self.serial.converted(source, rendition).path)
        var first: [String]?
        for count in counts {
            let joined = try await convert(source, rendition, threads: Self.threads(count))
            let report = try #require(joined.result.encoders)
            #expect(report.joints + report.fallbacks == report.segments - 1)
            #expect(report.joints >= 2, "\(report)")
            let packets = try await Self.packets(joined.path)
            #expect(Self.times(packets) == Self.times(serial))
            #expect(first == nil || packets == first)
            first = packets
        }
    }

    @Test(
        arguments: [("mp3", 0), ("mp3", 3000), ("mp3", 33_000), ("flac", 1)])
    func `a source that ends near a joint has the packets and the length of a single encoder's`(
        format: String, more: Int
    ) async throws {
        // 588 frames of MP3 or 144 of FLAC are a segment.
        let segment = format == "mp3" ? 588 * 1152 : 144 * 4608
        let source = try await Self.material(rate: 44_100)
        // One that ends far before the joint has none.
        for length in more < 33_000 ? Set([segment + more, segment - more]) : [segment + more] {
            let end = MediaTime(value: Int64(length), timescale: 44_100)
            let serial = try await convert(source, Rendition(format: format), end: end)
            let joined = try await convert(source, Rendition(format: format), end: end, threads: Self.threads(3))
            #expect(joined.result.samples == serial.result.samples)
            #expect(joined.result.gapless == serial.result.gapless)
            #expect(Self.times(try await Self.packets(joined.path)) == Self.times(try await Self.packets(serial.path)))
        }
    }

    @Test func `segments of a long source are longer`() async throws {
        let source = try await Studio.shared.source(
            "long-tone.wav", ["-f", "lavfi", "-i", "sine=f=440:r=8000:d=480", "-c:a", "pcm_s16le"])
        let rendition = Rendition(format: "opus", bitRate: 64_000) { $0.compressionLevel = 0 }
        let joined = try await convert(source, rendition, threads: Self.threads(2))
        // A 24th is 20 s.
        #expect(joined.result.encoders?.segments == 24)
        let part = try await convert(
            source, rendition, end: MediaTime(value: 120, timescale: 1), threads: Self.threads(2))
        #expect(part.result.encoders?.segments == 8)
    }

    @Test func `an encoding that began with one thread continues with several when they are free`() async throws {
        let source = try await Self.material()
        let threads = ThreadBudget(1, isFixed: false)
        let serial = try await Self.serial.converted(source, Rendition(format: "mp3"))
        let joined = try await convert(source, Rendition(format: "mp3"), threads: threads) { _ in threads.count = 3 }
        #expect(try #require(joined.result.encoders).joints > 0)
        #expect(Self.times(try await Self.packets(joined.path)) == Self.times(try await Self.packets(serial.path)))
    }

    @Test func `with one thread that is not fixed, the file has the bytes of a single encoder's`() async throws {
        let source = try await Self.material()
        let serial = try await Self.serial.converted(source, Rendition(format: "mp3"))
        let alone = try await convert(source, Rendition(format: "mp3"), threads: ThreadBudget(1, isFixed: false))
        #expect(alone.result.encoders == SegmentReport())
        #expect(try fileBytes(alone.path) == fileBytes(serial.path))
    }

    @Test func `several outputs share the threads of a conversion`() async throws {
        let source = try await Self.material()
        let formats = ["mp3", "opus", "flac"]
        var paths: [String] = []
        for format in formats { paths.append(await Studio.shared.output(format)) }
        let outputs = paths
        for threads in [Self.threads(2), ThreadBudget(6, isFixed: false)] {
            let results = try await onThread {
                let input = Descriptor(owning: open(source, O_RDONLY | O_CLOEXEC))
                return try Converter.run(
                    source: DescriptorSource(borrowing: input.number), stores: SeveralOutputsTests.Files(outputs),
                    plan: ConversionPlan(renditions: formats.map { Rendition(format: $0) }), threads: threads,
                    stop: CancellationFlag(), progress: { _ in })
            }
            for (index, format) in formats.enumerated() {
                let serial = try await Self.serial.converted(source, Rendition(format: format))
                #expect(try results[index].get().samples == serial.result.samples)
                #expect(
                    Self.times(try await Self.packets(paths[index])) == Self.times(try await Self.packets(serial.path)))
            }
        }
    }

    @Test func `samples at joints of MP3 are as near to the source as elsewhere`() async throws {
        let source = try await Self.material(rate: 44_100, channels: 2)
        let rendition = Rendition(format: "mp3", bitRate: 128_000)
        let serial = try await Self.serial.converted(source, rendition)
        let joined = try await convert(source, rendition, threads: Self.threads(3))
        let samples = try await decode([source, serial.path, joined.path], as: Float.self, "f32le")
        // 588 frames are a segment, and the first four packets of each are dropped.
        for joint in stride(from: 588 + 4, to: samples[0].count / 2 / 1152, by: 588) {
            let around = (joint * 1152 - 2205) * 2..<(joint * 1152 + 2205) * 2
            let difference =
                Samples.noise(samples[0], samples[2], around) / Samples.noise(samples[0], samples[1], around)
            // 1.5 dB. A joint without the right main data has 20 dB more.
            #expect(10 * log10(difference) < 1.5)
        }
    }
}

extension Rendition {
    /// A rendition with further settings of the encoder.
    fileprivate init(
        format: String, bitRate: Int? = nil, sampleRate: Int? = nil, channels: Int? = nil,
        _ change: (inout EncoderSettings) -> Void
    ) {
        self.init(format: format, bitRate: bitRate, sampleRate: sampleRate, channels: channels)
        change(&encoder)
    }
}
