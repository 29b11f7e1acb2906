import Bytes
import CLibav
import Libav

/// Decodes across a joint and compares the samples with those that were encoded.
struct JointCheck {
    /// The parameters of the stream, from its first encoder.
    let encoder: SegmentEncoder
    let shape: SampleShape
    /// Samples by which the decoder's output is late, beside the delay of the encoder.
    let late: Int
    /// Samples that are decoded before those that are compared.
    let warmup: Int
    /// Seconds around the joint that are compared.
    static let reach = 1.0
    /// The error at a joint may be larger than that of the worst place around it by this factor: 1 dB.
    private static let tolerance = 1.26
    /// A joint whose error is higher than that of the running encoder alone by less than this factor is taken at once: 0.5 dB.
    private static let likeness = 1.12
    /// The ratio of signal to noise may be lower after the joint by this factor: 10 dB. The rate control of AAC begins with few
    /// bits for pure tones.
    private static let maxLoss = 10.0
    /// The power of samples that count as silence, relative to full scale: -80 dB.
    private static let silence = 1e-8
    /// Windows of 50 ms on each side of the joint.
    fileprivate static let windows = 20
    /// Windows after the joint that the running encoder must have encoded to be compared.
    private static let leastCommon = 2

    /// What a joint does to the sound.
    enum Finding {
        /// It is as near to the source as the running encoder alone.
        case good
        /// It is as near to the source as elsewhere.
        case tolerable
        case wrong
    }

    /// Compares what packets decode to around a time with the source, and with what the `running` encoder made of it, which has
    /// encoded some of what follows, too. The packets begin before the first frame of the source, which covers a second on both
    /// sides.
    func finding(
        _ packets: [EncodedPacket], beside running: ArraySlice<EncodedPacket>, at time: Int64, _ frames: FrameSpan
    ) throws(MediaError) -> Finding {
        let source = Timeline(shape, around: time)
        try frames.read { (frame: borrowing Frame) throws(MediaError) in source.add(frame) }
        guard let joined = try noise(packets[...], source, from: 0) else { return .wrong }
        let middle = Self.windows - 1
        guard joined.power(around: middle) > 2 * leastPower else { return .good }
        let error = joined.error(around: middle)
        let others = (0..<2 * Self.windows - 1).filter { abs($0 - middle) > 1 }
        let isLouder = error > Self.tolerance * others.map { joined.error(around: $0) }.max()!
        let before = joined.ratio(0..<Self.windows, over: leastPower)
        let after = joined.ratio(Self.windows..<2 * Self.windows, over: leastPower)
        let isLost = before.map { before in after.map { $0 * Self.maxLoss < before } ?? false } ?? false
        guard let alone = try noise(running, source, from: middle) else { return isLouder || isLost ? .wrong : .good }
        let common = alone.known(from: Self.windows)
        guard common.count >= Self.leastCommon else { return isLouder || isLost ? .wrong : .good }
        // Where the sound itself changes, it may be harder to encode.
        if isLost {
            guard let own = alone.ratio(common, over: leastPower), let its = joined.ratio(common, over: leastPower),
                its * Self.maxLoss >= own
            else { return .wrong }
        }
        // A loud sound soon after the joint may need bits that the next encoder has not saved yet.
        let compared = middle..<common.upperBound
        if joined.error(compared) <= Self.likeness * alone.error(compared) { return .good }
        return isLouder && error > Self.tolerance * alone.error(around: middle) ? .wrong : .tolerable
    }

    /// Whether the running encoder has made the same packets from a joint on, as far as they are compared: what is decoded around the
    /// joint is then what it would be without one.
    func isSame(_ joined: Joined, _ running: PacketRun, _ next: PacketRun) -> Bool {
        let own = running.packets.dropFirst(joined.kept.count)
        let others = next.packets.dropFirst(joined.dropped)
        guard let first = own.first, let last = own.last, own.count <= others.count,
            last.time >= first.time + Int64(Self.leastCommon * (shape.rate / 20) + late)
        else { return false }
        return zip(joined.kept, running.packets).allSatisfy { $0 === $1 }
            && zip(own, others).allSatisfy { $0.hasSameContent(as: $1) }
    }

    /// The power in a window below which it counts as silence.
    private var leastPower: Double { Self.silence * Double(shape.rate / 20 * shape.channels) }

    /// How far what packets decode to is from the source, from a window on; `nil` if it is nothing.
    private func noise(
        _ packets: ArraySlice<EncodedPacket>, _ source: Timeline, from window: Int
    ) throws(MediaError) -> WindowNoise? {
        let start = source.first + Int64(window * source.width)
        let first = packets.firstIndex { $0.time > start - Int64(warmup) } ?? packets.endIndex
        let used = packets[first...].prefix { $0.time < source.end + Int64(late) }
        let decoder = try JointDecoder.open(encoder)
        let frame = try Frame()
        let copy = try Packet()
        var noise = WindowNoise(count: 2 * Self.windows, samples: source.width * shape.channels)
        var isDecoded = false
        for packet in used {
            try check(av_packet_ref(copy.pointer, packet.packet.pointer), "check a joint")
            // A decoder would drop samples that side data of the stream's start names.
            av_packet_free_side_data(copy.pointer)
            try decoder.send(copy)
            copy.clear()
            while try decoder.receive(into: frame) {
                guard frame.rate > 0, frame.rate.isMultiple(of: shape.rate), frame.channels == shape.channels else {
                    continue
                }
                isDecoded = true
                source.compare(frame, late: late, &noise)
            }
        }
        return isDecoded ? noise : nil
    }
}

/// Samples of two seconds of the source around a time, one channel after another, as floating point.
private final class Timeline {
    /// The first sample that is compared, and the one after the last.
    let first: Int64
    let end: Int64
    /// The samples of a window.
    let width: Int
    private let rate: Int
    private let count: Int
    private var samples: [Float]
    private var known = 0..<0
    private var room: [Float] = []

    init(_ shape: SampleShape, around time: Int64) {
        rate = shape.rate
        width = shape.rate / 20
        count = 2 * JointCheck.windows * width
        first = time - Int64(count / 2)
        end = first + Int64(count)
        samples = [Float](repeating: 0, count: count * shape.channels)
    }

    /// Adds the next frame of the source.
    func add(_ frame: borrowing Frame) {
        let (places, skipped) = places(frame, late: 0, in: 0..<count)
        guard !places.isEmpty else { return }
        known = (known.isEmpty ? places.lowerBound : known.lowerBound)..<places.upperBound
        samples.withUnsafeMutableBufferPointer { samples in
            for channel in 0..<frame.channels {
                let target = samples.baseAddress! + (channel * count + places.lowerBound)
                frame.copyFloats(channel, from: skipped, step: 1, places.count, to: target)
            }
        }
    }

    /// Compares a decoded frame. Of a frame with a multiple of the rate, which has no frequencies above those of the source, it
    /// takes every n-th sample.
    func compare(_ frame: borrowing Frame, late: Int, _ noise: inout WindowNoise) {
        let (places, skipped) = places(frame, late: late, in: known)
        guard !places.isEmpty else { return }
        let step = frame.rate / rate
        if room.count < places.count { room = [Float](repeating: 0, count: places.count) }
        for channel in 0..<frame.channels {
            room.withUnsafeMutableBufferPointer {
                frame.copyFloats(channel, from: skipped * step, step: step, places.count, to: $0.baseAddress!)
            }
            var place = places.lowerBound
            while place < places.upperBound {
                let window = place / width
                let upper = min(places.upperBound, (window + 1) * width)
                let (power, error) = sums(channel * count + place, room: place - places.lowerBound, upper - place)
                noise.add(power: power, error: error, upper - place, to: window)
                place = upper
            }
        }
    }

    /// The places of a frame's samples within a range, and the number of samples before them.
    private func places(_ frame: borrowing Frame, late: Int, in range: Range<Int>) -> (Range<Int>, skipped: Int) {
        guard let time = frame.timestamp else { return (0..<0, 0) }
        let start = Int(time - first) - late
        let step = frame.rate / rate
        let places = (start..<start + (frame.samples + step - 1) / step).clamped(to: range)
        return (places, places.lowerBound - start)
    }

    /// The power of samples of the source, and that of their difference from decoded ones.
    private func sums(_ start: Int, room decoded: Int, _ count: Int) -> (power: Double, error: Double) {
        var (power, error) = (SIMD8<Float>.zero, SIMD8<Float>.zero)
        samples.withUnsafeBytes { samples in
            room.withUnsafeBytes { room in
                for index in stride(from: 0, to: count, by: 8) {
                    var (value, other) = (SIMD8<Float>.zero, SIMD8<Float>.zero)
                    if index + 8 <= count {
                        value = samples.loadUnaligned(fromByteOffset: 4 * (start + index), as: SIMD8<Float>.self)
                        other = room.loadUnaligned(fromByteOffset: 4 * (decoded + index), as: SIMD8<Float>.self)
                    } else {
                        for lane in 0..<count - index {
                            value[lane] = samples.load(fromByteOffset: 4 * (start + index + lane), as: Float.self)
                            other[lane] = room.load(fromByteOffset: 4 * (decoded + index + lane), as: Float.self)
                        }
                    }
                    power += value * value
                    error += (value - other) * (value - other)
                }
            }
        }
        return (Double(power.sum()), Double(error.sum()))
    }
}

/// The power of the source, and of what decoding adds to it, in consecutive windows.
private struct WindowNoise {
    private let samples: Int
    private var errors: [Double]
    private var powers: [Double]
    private var counts: [Int]

    init(count: Int, samples: Int) {
        self.samples = samples
        errors = [Double](repeating: 0, count: count)
        powers = errors
        counts = [Int](repeating: 0, count: count)
    }

    mutating func add(power: Double, error: Double, _ count: Int, to window: Int) {
        powers[window] += power
        errors[window] += error
        counts[window] += count
    }

    /// The error in a window and the one after it.
    func error(around index: Int) -> Double { errors[index] + errors[index + 1] }

    func error(_ windows: Range<Int>) -> Double { errors[windows].reduce(0, +) }

    func power(around index: Int) -> Double { powers[index] + powers[index + 1] }

    /// The windows from one on that were decoded as a whole.
    func known(from first: Int) -> Range<Int> {
        first..<(counts[first...].firstIndex { $0 < samples } ?? counts.count)
    }

    /// The median of the ratio of power to error in windows that are not silent; `nil` if all are.
    func ratio(_ windows: Range<Int>, over least: Double) -> Double? {
        let ratios = windows.filter { powers[$0] > least }.map { powers[$0] / max(errors[$0], 1e-12) }.sorted()
        return ratios.isEmpty ? nil : ratios[ratios.count / 2]
    }
}

extension Frame {
    /// Copies every n-th sample of a channel as floating point, where full scale is 1.
    fileprivate borrowing func copyFloats(
        _ channel: Int, from first: Int, step: Int, _ count: Int, to target: UnsafeMutablePointer<Float>
    ) {
        let format = AVSampleFormat(pointer.pointee.format)
        let isPlanar = av_sample_fmt_is_planar(format) != 0
        let plane = UnsafeRawPointer(planes[isPlanar ? channel : 0]!)
        let width = isPlanar ? 1 : channels
        func copy<Sample>(_ convert: (Sample) -> Float) {
            let samples = plane.assumingMemoryBound(to: Sample.self) + (first * width + (isPlanar ? 0 : channel))
            for index in 0..<count { target[index] = convert(samples[index * step * width]) }
        }
        switch av_get_packed_sample_fmt(format) {
        case AV_SAMPLE_FMT_S16: copy { (sample: Int16) in Float(sample) / 0x8000 }
        case AV_SAMPLE_FMT_S32: copy { (sample: Int32) in Float(sample) / 0x8000_0000 }
        default: copy { (sample: Float) in sample }
        }
    }
}

/// Decodes packets of an encoder of this process; owns an `AVCodecContext`.
private struct JointDecoder: ~Copyable {
    private let context: UnsafeMutablePointer<AVCodecContext>

    private init(owning context: UnsafeMutablePointer<AVCodecContext>) { self.context = context }

    static func open(_ encoder: SegmentEncoder) throws(MediaError) -> JointDecoder {
        let parameters = avcodec_parameters_alloc()
        defer {
            var parameters = parameters
            avcodec_parameters_free(&parameters)
        }
        guard let parameters, let codec = avcodec_find_decoder(encoder.encoder.context.pointee.codec_id),
            let context = avcodec_alloc_context3(codec)
        else { throw .outOfMemory("check a joint") }
        let decoder = JointDecoder(owning: context)
        try check(avcodec_parameters_from_context(parameters, encoder.encoder.context), "check a joint")
        try check(avcodec_parameters_to_context(context, parameters), "check a joint")
        context.pointee.pkt_timebase = AVRational(num: 1, den: encoder.encoder.context.pointee.sample_rate)
        context.pointee.thread_count = 1
        try check(avcodec_open2(context, codec, nil), "check a joint")
        return decoder
    }

    deinit {
        var context: UnsafeMutablePointer<AVCodecContext>? = context
        avcodec_free_context(&context)
    }

    /// The first packets may refer to earlier ones, so an error is no failure.
    borrowing func send(_ packet: borrowing Packet) throws(MediaError) {
        _ = avcodec_send_packet(context, packet.pointer)
    }

    borrowing func receive(into frame: borrowing Frame) throws(MediaError) -> Bool {
        avcodec_receive_frame(context, frame.pointer) == 0
    }
}
