import CLibav
import Libav
import MediaTypes
import Testing

@testable import Encoders

/// Where segments begin.
@Suite(.ownThread) struct SegmentPlanTests {
    private static let rate = 44_100

    private static func plan(_ format: String, channels: Int = 1) throws -> SegmentPlan {
        let shape = SampleShape(
            format: AV_SAMPLE_FMT_FLTP, rate: rate, layout: ChannelLayout(defaultFor: channels))
        let settings = try EncodingSettings.resolve(Rendition(format: format), shape, .lossy)
        let encoder = try Encoder.open(settings, globalHeader: true)
        return SegmentPlan(
            try #require(settings.codec.joint), settings, encoder, frameSize: Int(encoder.context.pointee.frame_size))
    }

    /// Where the second segment begins, if the last channel is silence but for samples at some places.
    private static func start(
        loudAt places: [Int], level: (Int) -> Float, channels: Int = 1, times: [Int64] = [-128, 0, 576, 1600, 2624]
    ) throws -> (frame: Int, fade: Int?) {
        var plan = try plan("ogg", channels: channels)
        let shape = SampleShape(
            format: AV_SAMPLE_FMT_FLTP, rate: rate, layout: ChannelLayout(defaultFor: channels))
        let frame = try Frame()
        var number = 0
        while !plan.isPlanned(number) {
            if plan.opensSearch(number) { plan.search(channels: channels) }
            try frame.reserve(64, shape)
            frame.silence(shape)
            for place in places where place / 64 == number { frame.floats(channels - 1)[place % 64] = level(place) }
            plan.add(frame, number: number)
            number += 1
        }
        #expect(number == (40 * rate / 1024 + 1) * 16)
        var early = plan.earlyPackets(0)
        for time in times {
            let packet = try Packet()
            packet.pointer.pointee.pts = time
            early.add(try EncodedPacket(taking: packet))
        }
        return plan.takeStart(planned: number, after: early)
    }

    @Test func `a segment of Vorbis begins 0.45 s before the strongest attack of 20 s`() throws {
        let second = Self.rate
        for channels in 1...2 {
            let start = try Self.start(
                loudAt: [10 * second, 25 * second, 30 * second, 35 * second],
                level: { $0 == 30 * second ? 0.5 : $0 == 10 * second ? 0.9 : 0.25 }, channels: channels
            ).frame
            let before = Double(30 * second - start * 64) / Double(second)
            #expect(start.isMultiple(of: 16) && before > 0.45 && before < 0.48, "\(before)")
        }
    }

    @Test func `a segment of Vorbis begins where it was planned if there is no attack`() throws {
        // The first one is before the search, and the second one is very quiet.
        let planned = (40 * Self.rate / 1024 + 1) * 16
        let start = try Self.start(
            loudAt: [18 * Self.rate, 30 * Self.rate], level: { $0 < 20 * Self.rate ? 1 : 1e-4 })
        #expect(start.frame == planned && start.fade == 17_664)
        #expect(try Self.start(loudAt: [], level: { _ in 0 }).frame == planned)
    }

    @Test func `a segment of Vorbis begins at most 20 s before it was planned`() throws {
        let planned = (40 * Self.rate / 1024 + 1) * 16
        let first = planned - 20 * Self.rate / 64
        // The attack of the earliest segment is 310 frames behind its start. One that is earlier would be in the fade.
        let start = try Self.start(
            loudAt: [(first + 300) * 64, (first + 350) * 64], level: { $0 < (first + 310) * 64 ? 1 : 0.5 }
        ).frame
        #expect(start.isMultiple(of: 16) && start >= first && start - first <= 48, "\(start) \(first)")
        // One step of long blocks later, if it has the blocks of the segment before.
        let shifted: [Int64] = [-128, 0, 576, 1600, 2176, 2304, 2432, 3008, 4032]
        let attack = [(first + 330) * 64]
        let unaligned = try Self.start(loudAt: attack, level: { _ in 1 }).frame
        #expect(try Self.start(loudAt: attack, level: { _ in 1 }, times: shifted).frame == unaligned + 6)
    }

    @Test func `a segment of Vorbis without an attack has the long blocks of the one before`() throws {
        let planned = (40 * Self.rate / 1024 + 1) * 16
        // Blocks have 256 and 2048 samples. The first packets of an encoder are 128 and 576 apart, and its long blocks 1024.
        let usual: [Int64] = [-128, 0, 576, 1600, 2624]
        #expect(try Self.start(loudAt: [], level: { _ in 0 }, times: usual).frame == planned)
        // Behind short blocks, the long ones are 384 samples later, or 640 earlier.
        let shifted: [Int64] = [-128, 0, 576, 1600, 2176, 2304, 2432, 3008, 4032]
        #expect(try Self.start(loudAt: [], level: { _ in 0 }, times: shifted).frame == planned - 10)
        let short: [Int64] = [-128, 0, 128]
        let start = try Self.start(loudAt: [], level: { _ in 0 }, times: short)
        #expect(start.frame == planned && start.fade == nil, "the encoder shall begin with short blocks, too")
        let attack = try Self.start(loudAt: [30 * Self.rate], level: { _ in 1 }, times: usual).frame
        #expect(try Self.start(loudAt: [30 * Self.rate], level: { _ in 1 }, times: shifted).frame == attack - 10)
    }

    @Test func `segments of other codecs begin where they were planned`() throws {
        var plan = try Self.plan("mp3")
        let starts = (0...2000).filter(plan.isPlanned)
        #expect(starts == [588, 1176, 1764])
        #expect(!(0...2000).contains(where: plan.opensSearch))
        plan.search(channels: 2)
        #expect(plan.takeStart(planned: 588, after: plan.earlyPackets(0)).frame == 588)
    }

    @Test func `while an attack is searched, frames are kept, and the encoder before waits`() throws {
        let shape = SampleShape(format: AV_SAMPLE_FMT_S16, rate: 48_000, layout: ChannelLayout(defaultFor: 1))
        let settings = try EncodingSettings.resolve(Rendition(format: "opus"), shape, .integer(bits: 16))
        let encoder = SegmentEncoder(try Encoder.open(settings, globalHeader: true), start: 0)
        var queue = SegmentQueue(encoder, EarlyPackets(start: 0), around: 0)
        var block = try OpenBlock(shape, frameSize: 960, capacity: 10)
        let frame = try Frame()
        try frame.reserve(960, shape)
        func append(_ numbers: Range<Int>) throws {
            for number in numbers { try block.append(frame, number: number) }
            queue.append(try #require(try block.take()))
        }
        var received: [Range<Int>] = []
        func encode() -> SegmentQueue.Work? {
            while let work = queue.work(of: 0) {
                guard case .encode(_, let numbers) = work else { return work }
                received.append(numbers)
            }
            return nil
        }
        try append(0..<10)
        queue.hold(from: 10, before: 25)
        for start in [10, 20, 30] { try append(start..<start + 10) }
        let waiting = encode()
        #expect(waiting == nil && received == [0..<10, 10..<20, 20..<25])
        let (hasWork, kept) = (queue.hasWork, queue.frames(0..<40).blocks.map(\.numbers))
        #expect(!hasWork && kept == [10..<20, 20..<30, 30..<40])
        queue.begin(EarlyPackets(start: 12), endingBefore: 27)
        let last = encode()
        guard case .pause = last else { throw Failure() }
        #expect(received.last == 25..<27)
    }

    private struct Failure: Error {}
}
