import Bytes
import CLibav
import Encoders
import Encoding
import Filters
import FoundationEssentials
import Glibc
import Libav
import Lifecycle
import MediaTypes
import TestSupport
import Testing

/// Loudness that is measured in parts, on several threads.
@Suite(.failureReport, .timeLimit(.minutes(5))) struct ParallelLoudnessTests {
    private static func threads(_ count: Int) -> ThreadBudget { ThreadBudget(count, isFixed: true) }

    /// Planar floats at 8 kHz, where a part has 80,000 samples.
    private static func shape(channels: Int = 2) -> SampleShape {
        SampleShape(format: AV_SAMPLE_FMT_FLTP, rate: 8000, layout: ChannelLayout(defaultFor: channels))
    }

    /// Frames of odd lengths of samples whose level changes, or of silence.
    private static func frames(
        _ samples: Int, _ shape: SampleShape, isSilent: Bool = false
    ) throws(MediaError) -> [SharedFrame] {
        let planes = (0..<shape.channels).map { Sounds.steps(samples: samples, channel: $0) }
        var frames: [SharedFrame] = []
        for start in stride(from: 0, to: samples, by: 1237) {
            let frame = try Frame()
            try frame.reserve(min(1237, samples - start), shape)
            for (channel, plane) in planes.enumerated() {
                plane.withUnsafeBufferPointer {
                    frame.floats(channel).update(from: $0.baseAddress! + start, count: frame.samples)
                }
            }
            if isSilent { frame.silence(shape) }
            frames.append(try SharedFrame(frame))
        }
        return frames
    }

    private static func measured(
        _ frames: [SharedFrame], _ shape: SampleShape, _ threads: ThreadBudget
    ) throws -> Loudness {
        let loudness = try ParallelLoudness(shape, threads: threads)
        for shared in frames { try loudness.append(shared.frame) }
        return try loudness.finish()
    }

    /// The same, in one part.
    private static func measuredAtOnce(_ frames: [SharedFrame], _ shape: SampleShape) throws -> Loudness {
        var meter = try LoudnessMeter.open(shape)
        for shared in frames { try meter.append(shared.frame) }
        try meter.finish()
        return meter.blocks.loudness()
    }

    @Test func `loudness at a rate below that of sound is refused`() throws {
        // A file may declare any rate.
        let shape = SampleShape(format: AV_SAMPLE_FMT_FLTP, rate: 16, layout: ChannelLayout(defaultFor: 1))
        let error = #expect(throws: MediaError.self) { _ = try LoudnessMeter.open(shape) }
        guard case .unsupportedFormat = error?.reason else {
            Issue.record("\(String(describing: error))")
            return
        }
    }

    @Test(arguments: [
        // A part, a sample more, some more than three and less than a block.
        (80_000, 2), (80_001, 2), (266_000, 2), (101_000, 6), (2000, 2), (1, 1),
    ])
    func `the loudness does not depend on the number of threads, nor on parts`(
        _ samples: Int, _ channels: Int
    ) async throws {
        try await onThread {
            let shape = Self.shape(channels: channels)
            let frames = try Self.frames(samples, shape)
            let one = try Self.measured(frames, shape, .one)
            for count in [2, 3, 7] { #expect(try Self.measured(frames, shape, Self.threads(count)) == one) }
            let whole = try Self.measuredAtOnce(frames, shape)
            #expect(one.truePeak == whole.truePeak && one.samplePeak == whole.samplePeak)
            #expect(abs((one.integrated ?? -200) - (whole.integrated ?? -200)) < 1e-9)
            let (range, wholeRange) = (try #require(one.range), try #require(whole.range))
            #expect(abs(range - wholeRange) < 1e-9)
            #expect(samples < 200_000 || range > 5)
        }
    }

    @Test func `silence in several parts has no loudness`() async throws {
        let loudness = try await onThread {
            let shape = Self.shape()
            return try Self.measured(try Self.frames(170_000, shape, isSilent: true), shape, Self.threads(3))
        }
        #expect(loudness == Loudness(range: 0))
    }

    @Test(arguments: ["stereo", "5.1"])
    func `the loudness is what ffmpeg's filter measures`(_ layout: String) async throws {
        let channels = layout == "stereo" ? 2 : 6
        let wave = (0..<channels).map { "(0.05+0.4*gt(mod(t,5),2.3))*sin(2*PI*\(200 + 130 * $0)*t)*(1+0.3*sin(t))" }
        let source = try await Studio.shared.source(
            "parts-\(channels).wav",
            [
                "-f", "lavfi", "-i", "aevalsrc='\(wave.joined(separator: "|"))':c=\(layout):s=48000:d=15", "-c:a",
                "pcm_s16le",
            ])
        let outcome = try await WarmProgram.ffmpeg.run([
            "-v", "error", "-i", source, "-af", "ebur128=metadata=1:peak=true,ametadata=print:file=-", "-f", "null",
            "-",
        ])
        func last(_ key: String) throws -> Double {
            let line = try #require(outcome.output.split(separator: "\n").last { $0.hasPrefix("lavfi.r128.\(key)=") })
            return try #require(Double(line.split(separator: "=")[1]))
        }
        let made = try await convert(
            source, sound("wav", .s16) { $0.loudness = -20 }, end: MediaTime(value: 15, timescale: 1),
            threads: Self.threads(3))
        let before = try #require(made.result.loudness?.before)
        let (integrated, range, peak) = (before.integrated ?? 0, before.range ?? 0, before.truePeak ?? 0)
        let (filtered, filteredRange) = (try last("I"), try last("LRA"))
        #expect(abs(integrated - filtered) <= 0.05, "\(integrated) \(filtered)")
        // The filter takes a block of 3 s each 100 ms.
        #expect(abs(range - filteredRange) <= 1, "\(range) \(filteredRange)")
        // The filter's peaks are linear.
        let filteredPeak = decibels(try (0..<channels).map { try last("true_peaks_ch\($0)") }.max()!)
        #expect(abs(peak - filteredPeak) <= 0.1, "\(peak) \(filteredPeak)")
    }

    @Test func `a result has the same bytes with any number of threads`() async throws {
        let source = try await Studio.shared.source(
            "parts-8000.wav",
            ["-f", "lavfi", "-i", "aevalsrc='0.1*sin(2*PI*440*t)*(1+sin(t))+0.01*(random(0)-0.5)':s=8000:d=24"])
        let rendition = sound("wav", .s16) { $0.loudness = -14 }
        let one = try fileBytes(try await convert(source, rendition).path)
        for count in [2, 5] {
            #expect(try fileBytes(try await convert(source, rendition, threads: Self.threads(count)).path) == one)
        }
    }

    @Test func `a cancelled measurement ends its threads`() async throws {
        let source = try await Studio.shared.source(
            "parts-long.wav", ["-f", "lavfi", "-i", "sine=r=8000:d=600", "-c:a", "pcm_u8"])
        let (stop, threads) = (CancellationFlag(), Self.threads(4))
        await #expect(throws: MediaError.self) {
            try await convert(source, sound { $0.loudness = -14 }, threads: threads, stop: stop) { report in
                if report.phase == .analyzing { stop.raise() }
            }
        }
        #expect(threads.working == 0)
        try Self.begin(threads)
        #expect(threads.working == 0)
    }

    /// Measures parts of a stream that never ends.
    private static func begin(_ threads: ThreadBudget) throws {
        let loudness = try ParallelLoudness(shape(), threads: threads)
        for shared in try frames(400_000, shape(), isSilent: true) { try loudness.append(shared.frame) }
    }
}
