import Bytes
import CLibav
import Libav
import Lifecycle
import MediaTypes
import TestSupport
import Testing

@testable import Encoders

/// The frames that a pool of encoders keeps in memory.
@Suite struct FrameBlockTests {
    private static func shape(_ format: AVSampleFormat, rate: Int = 44_100, channels: Int = 2) -> SampleShape {
        SampleShape(format: format, rate: rate, layout: ChannelLayout(defaultFor: channels))
    }

    /// A frame of floats, one channel after another.
    private static func frame(_ values: [Float], _ shape: SampleShape, at time: Int64) throws -> Frame {
        let frame = try Frame()
        let count = values.count / shape.channels
        try frame.reserve(count, shape)
        for channel in 0..<shape.channels {
            for index in 0..<count {
                if shape.isPlanar {
                    frame.floats(channel)[index] = values[channel * count + index]
                } else {
                    frame.floats(0)[index * shape.channels + channel] = values[channel * count + index]
                }
            }
        }
        frame.pointer.pointee.pts = time
        return frame
    }

    /// The bits of a frame's floats, one channel after another.
    private static func bits(_ frame: borrowing Frame, _ shape: SampleShape) -> [UInt32] {
        (0..<shape.channels).flatMap { channel in
            (0..<frame.samples).map { index in
                let sample =
                    shape.isPlanar ? frame.floats(channel)[index] : frame.floats(0)[index * shape.channels + channel]
                return sample.bitPattern
            }
        }
    }

    @Test(arguments: [AV_SAMPLE_FMT_FLT, AV_SAMPLE_FMT_FLTP], [64, 100])
    func `a block gives back its frames, and needs half the memory for samples of 16 bits`(
        format: AVSampleFormat, size: Int
    ) throws {
        let shape = Self.shape(format)
        let sixteen = (0..<2 * size).map { number -> Float in
            let value: Int = (number * 7919 + 32_768) % 65_536 - 32_768
            return Float(value) / 0x8000
        }
        let others: [Float] = [-.zero, 1, .nan, .infinity, -1.5, 1e30, 1 / 65_536, 0.1]
        let replacements: [Float?] = [nil] + others
        for other in replacements {
            var block = try OpenBlock(shape, frameSize: size, capacity: 4)
            var values = sixteen
            if let other { values[size + 3] = other }
            var expected: [[UInt32]] = []
            // The last frame is short.
            for number in 0..<3 {
                let count = number == 2 ? 10 : size
                let samples = (0..<2).flatMap { channel -> ArraySlice<Float> in
                    values[channel * size..<channel * size + count]
                }
                try block.append(try Self.frame(samples, shape, at: Int64(number * size - 529)), number: number + 7)
                expected.append(samples.map(\.bitPattern))
            }
            let taken = try #require(try block.take())
            #expect(taken.numbers == 7..<10)
            // Two bytes for each of 64, 64 and 10 samples of two channels.
            if other == nil, size == 64 { #expect(taken.bytes == 552) }
            for numbers in [7..<10, 8..<10, 8..<9] {
                var read: [[UInt32]] = []
                var times: [Int64?] = []
                try BlockReader().read(taken, numbers) { (frame: borrowing Frame) in
                    read.append(Self.bits(frame, shape))
                    times.append(frame.timestamp)
                }
                #expect(read == numbers.map { expected[$0 - 7] })
                let expectedTimes = numbers.map { number -> Int64? in Int64((number - 7) * size - 529) }
                #expect(times == expectedTimes)
            }
        }
    }

    @Test func `a block is taken once, and the next one does not change it`() throws {
        let shape = Self.shape(AV_SAMPLE_FMT_FLTP)
        var block = try OpenBlock(shape, frameSize: 64, capacity: 2)
        let values = (0..<128).map { Float($0) / 1000 }
        try block.append(try Self.frame(values, shape, at: 0), number: 0)
        let first = try #require(try block.take())
        #expect(try block.take() == nil)
        try block.append(try Self.frame(values.reversed(), shape, at: 64), number: 1)
        _ = try block.take()
        try BlockReader().read(first, 0..<1) { (frame: borrowing Frame) in
            #expect(Self.bits(frame, shape) == values.map(\.bitPattern))
        }
    }

    @Test func `frames in memory are bounded, however much faster they come than encoders take them`() async throws {
        try await onThread {
            let shape = Self.shape(AV_SAMPLE_FMT_FLTP, rate: 96_000)
            let settings = try EncodingSettings.resolve(Rendition(format: "ogg"), shape, .float32)
            let encoder = SegmentEncoder(try Encoder.open(settings, globalHeader: false), start: 0)
            let frameSize = encoder.encoder.frameSize
            let size = try #require(frameSize)
            let pool = try #require(
                try SegmentPool(
                    encoder, settings, globalHeader: false, threads: ThreadBudget(2, isFixed: true),
                    stop: CancellationFlag()))
            let frame = try Frame()
            try frame.reserve(size, shape)
            var noise = Noise(state: 1)
            for channel in 0..<2 {
                for index in 0..<size { frame.floats(channel)[index] = Float.random(in: -0.5...0.5, using: &noise) }
            }
            let packet = try Packet()
            // More than two segments, each of 24 MiB.
            let count = 72 * 96_000 / size
            var (most, packets) = (0, 0)
            for number in 0...count {
                frame.pointer.pointee.pts = Int64(number * size)
                if number == count { try pool.sendEnd() } else { try pool.send(frame) }
                most = max(most, pool.bytes)
                while try pool.receive(into: packet) { packets += packet.bytes.isEmpty ? 0 : 1 }
            }
            #expect(packets > 0)
            #expect(most < 25 << 20, "\(most)")
        }
    }
}
