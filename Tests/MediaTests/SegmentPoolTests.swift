import Bytes
import CLibav
import Conversion
import FoundationEssentials
import Glibc
import Libav
import Lifecycle
import MediaTypes
import TestSupport
import Testing

@testable import Encoders
@testable import Encoding

/// Encodes with several threads, and compares the result with that of one encoder.
@Suite(.timeLimit(.minutes(5))) struct SegmentPoolTests {
    /// A rising tone, clicks that start short blocks, and noise: 44.1 kHz, 16 bits, stereo.
    private static func material(seconds: Int = 34) async throws -> String {
        let click = "0.4*lt(mod(t,0.37),0.003)*sin(9000*t)"
        let left = "0.3*sin(2*PI*(200+9*t)*t)+\(click)+0.05*(random(0)-0.5)"
        let right = "0.2*sin(2*PI*330*t+3*sin(2*PI*t))+\(click)"
        return try await Studio.shared.source(
            "material-\(seconds).wav",
            ["-f", "lavfi", "-i", "aevalsrc='\(left)|\(right)':s=44100:d=\(seconds)", "-c:a", "pcm_s16le"])
    }

    /// The files of one encoder, each made once.
    private actor SerialFiles {
        private var made: [Rendition: Task<Converted, any Error>] = [:]

        func converted(_ rendition: Rendition) async throws -> Converted {
            let task =
                made[rendition] ?? Task { try await convert(try await SegmentPoolTests.material(), rendition) }
            made[rendition] = task
            return try await task.value
        }
    }

    private static let serial = SerialFiles()

    private static func threads(_ count: Int) -> EncoderThreads { EncoderThreads(count, isFixed: true) }

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
            Rendition(format: "flac"), Rendition(format: "flac", sampleFormat: .s24), Rendition(format: "tta"),
            Rendition(format: "m4a", codec: "alac"), Rendition(format: "ac3"),
        ])
    func `a file of a codec whose joints are exact has the bytes of a single encoder's`(rendition: Rendition)
        async throws
    {
        let source = try await Self.material()
        let serial = try await Self.serial.converted(rendition)
        #expect(serial.result.encoders == nil)
        let joined = try await convert(source, rendition, threads: Self.threads(3))
        #expect(try #require(joined.result.encoders).joints >= 2)
        #expect(joined.result.encoders?.fallbacks == 0)
        #expect(try fileBytes(joined.path) == fileBytes(serial.path))
    }

    @Test func `settings whose joints are not proven have one encoder`() async throws {
        func rendition(_ format: String, quality: Double? = nil, _ change: (inout EncoderSettings) -> Void) -> Rendition
        {
            var rendition = Rendition(format: format, quality: quality)
            change(&rendition.encoder)
            return rendition
        }
        let source = try await Self.material()
        let alone = [
            rendition("mp3") { $0.bitRateMode = .abr }, rendition("mp3") { $0.compressionLevel = 7 },
            rendition("opus") { $0.frameDuration = 10 }, rendition("opus") { $0.bitRateMode = .cbr },
            rendition("m4a", quality: 1) { _ in },
            // It decodes at 48 kHz, so that joints cannot be checked.
            Rendition(format: "opus", sampleRate: 24_000),
        ]
        for rendition in alone {
            #expect(try await convert(source, rendition, threads: Self.threads(3)).result.encoders == nil)
        }
        let several = [rendition("mp3") { $0.bitRateMode = .cbr }, rendition("flac") { $0.compressionLevel = 2 }]
        for rendition in several {
            #expect(try await convert(source, rendition, threads: Self.threads(3)).result.encoders != nil)
        }
    }

    @Test(
        arguments: [
            Rendition(format: "mp3", bitRate: 128_000), Rendition(format: "mp3", quality: 2),
            Rendition(format: "opus", bitRate: 96_000),
        ])
    func `packets have the times of a single encoder's, and do not depend on the number of threads`(
        rendition: Rendition
    ) async throws {
        let source = try await Self.material()
        let serial = try await Self.packets(try await Self.serial.converted(rendition).path)
        var first: [String]?
        for count in [2, 3] {
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
        let source = try await Self.material()
        for length in Set([segment + more, segment - more]) {
            let end = MediaTime(value: Int64(length), timescale: 44_100)
            let serial = try await convert(source, Rendition(format: format), end: end)
            let joined = try await convert(source, Rendition(format: format), end: end, threads: Self.threads(3))
            #expect(joined.result.samples == serial.result.samples)
            #expect(joined.result.gapless == serial.result.gapless)
            #expect(Self.times(try await Self.packets(joined.path)) == Self.times(try await Self.packets(serial.path)))
        }
    }

    /// A joint that is never found.
    private final class NoJoint: PacketJoint {
        func join(_ running: PacketRun, _ next: PacketRun, at planned: Int) -> Joined? { nil }
    }

    @Test func `where no joint is found, the encoder before goes on with the packets of a single one`() async throws {
        let (serial, joined, report) = try await Self.encoded(NoJoint())
        #expect(report == SegmentReport(segments: 3, joints: 0, fallbacks: 2))
        #expect(joined == serial)
    }

    @Test func `a joint with the wrong main data is found by decoding, and dropped`() async throws {
        // It ignores the bit reservoir.
        let (serial, joined, report) = try await Self.encoded(PlannedJoint())
        #expect(report == SegmentReport(segments: 3, joints: 0, fallbacks: 2))
        #expect(joined == serial)
    }

    @Test func `the joint of MP3 is not dropped, and changes packets`() async throws {
        let (serial, joined, report) = try await Self.encoded(ReservoirJoint(isConstant: true))
        #expect(report == SegmentReport(segments: 3, joints: 2, fallbacks: 0))
        #expect(joined != serial && joined.map(\.count) == serial.map(\.count))
    }

    /// MP3 at 128 kb/s.
    private static func settings() throws -> EncodingSettings {
        try EncodingSettings.resolve(
            Rendition(format: "mp3", bitRate: 128_000),
            SampleShape(format: AV_SAMPLE_FMT_S16P, rate: 44_100, layout: ChannelLayout(defaultFor: 2)),
            .integer(bits: 16))
    }

    private static let chord = Sounds.chord(samples: 1500 * 1152)

    /// A frame of the chord, on the right an eighth of a second earlier.
    private static func chord(_ number: Int, _ shape: SampleShape) throws -> Frame {
        let frame = try Frame()
        try frame.reserve(1152, shape)
        for channel in 0..<2 {
            let start = max(0, number - 5 * channel) * 1152
            chord[start..<start + 1152].withUnsafeBytes {
                UnsafeMutableRawPointer(frame.planes[channel]!).copyMemory(from: $0.baseAddress!, byteCount: $0.count)
            }
        }
        frame.pointer.pointee.pts = Int64(number * 1152)
        return frame
    }

    /// The packets of one MP3 encoder, those of several with a joint, and their report.
    private static func encoded(
        _ joint: sending any PacketJoint
    ) async throws -> ([[UInt8]], [[UInt8]], SegmentReport) {
        let box = JointBox(joint: joint)
        return try await onThread {
            let settings = try Self.settings()
            let pool = try #require(
                try SegmentPool(
                    SegmentEncoder(try Encoder.open(settings, globalHeader: false), start: 0), settings,
                    globalHeader: false, threads: Self.threads(3), stop: CancellationFlag(), joint: box.joint))
            let encoder = try Encoder.open(settings, globalHeader: false)
            let packet = try Packet()
            var (serial, joined): ([[UInt8]], [[UInt8]]) = ([], [])
            for number in 0...1500 {
                let isEnd = number == 1500
                let frame = try Self.chord(isEnd ? 0 : number, settings.shape)
                if isEnd { try pool.sendEnd() } else { try pool.send(frame) }
                while try pool.receive(into: packet) { joined.append(Array(packet.bytes)) }
                if isEnd { try encoder.sendEnd() } else { try encoder.send(frame) }
                while try encoder.receive(into: packet) { serial.append(Array(packet.bytes)) }
            }
            return (serial, joined, pool.report)
        }
    }

    /// Hands a joint to the thread that uses it.
    private final class JointBox: @unchecked Sendable {
        let joint: any PacketJoint
        init(joint: any PacketJoint) { self.joint = joint }
    }

    @Test func `an encoding that began with one thread continues with several when they are free`() async throws {
        let source = try await Self.material()
        let threads = EncoderThreads(1, isFixed: false)
        let serial = try await Self.serial.converted(Rendition(format: "mp3"))
        let joined = try await convert(source, Rendition(format: "mp3"), threads: threads) { _ in threads.count = 3 }
        #expect(try #require(joined.result.encoders).joints > 0)
        #expect(Self.times(try await Self.packets(joined.path)) == Self.times(try await Self.packets(serial.path)))
    }

    @Test func `with one thread that is not fixed, the file has the bytes of a single encoder's`() async throws {
        let source = try await Self.material()
        let serial = try await Self.serial.converted(Rendition(format: "mp3"))
        let alone = try await convert(source, Rendition(format: "mp3"), threads: EncoderThreads(1, isFixed: false))
        #expect(alone.result.encoders == SegmentReport())
        #expect(try fileBytes(alone.path) == fileBytes(serial.path))
    }

    @Test func `several outputs share the threads of a conversion`() async throws {
        let source = try await Self.material()
        let formats = ["mp3", "opus", "flac"]
        var paths: [String] = []
        for format in formats { paths.append(await Studio.shared.output(format)) }
        let outputs = paths
        for threads in [Self.threads(2), EncoderThreads(6, isFixed: false)] {
            let results = try await onThread {
                let input = Descriptor(owning: open(source, O_RDONLY | O_CLOEXEC))
                return try Converter.run(
                    source: DescriptorSource(borrowing: input.number), stores: SeveralOutputsTests.Files(outputs),
                    plan: ConversionPlan(renditions: formats.map { Rendition(format: $0) }), threads: threads,
                    stop: CancellationFlag(), progress: { _ in })
            }
            for (index, format) in formats.enumerated() {
                let serial = try await Self.serial.converted(Rendition(format: format))
                #expect(try results[index].get().samples == serial.result.samples)
                #expect(
                    Self.times(try await Self.packets(paths[index])) == Self.times(try await Self.packets(serial.path)))
            }
        }
    }

    @Test func `a stream that is given up ends its threads`() async throws {
        let threads = Self.threads(4)
        try await onThread {
            let settings = try Self.settings()
            let pool = try #require(
                try SegmentPool(
                    SegmentEncoder(try Encoder.open(settings, globalHeader: false), start: 0), settings,
                    globalHeader: false, threads: threads, stop: CancellationFlag()))
            for number in 0..<1400 { try pool.send(try Self.chord(number, settings.shape)) }
        }
        #expect(!threads.isBusy)
    }

    @Test func `samples at joints of MP3 are as near to the source as elsewhere`() async throws {
        let source = try await Self.material()
        let rendition = Rendition(format: "mp3", bitRate: 128_000)
        let serial = try await Self.serial.converted(rendition)
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
