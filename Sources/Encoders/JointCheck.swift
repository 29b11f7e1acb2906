import Bytes
import CLibav
import Libav

/// Decodes across a joint and compares the samples with those that were encoded.
struct JointCheck {
    /// The parameters of the stream, from its first encoder.
    let encoder: SegmentEncoder
    let shape: SampleShape
    /// Seconds around the joint that are compared.
    static let reach = 1.0
    /// The error at a joint may be larger than that of the worst place around it by this factor: 1 dB.
    private static let tolerance = 1.26
    /// The ratio of signal to noise may be lower behind the joint by this factor: 10 dB. The rate control of AAC begins with few
    /// bits for pure tones.
    private static let maxLoss = 10.0
    /// The power of samples that count as silence, relative to full scale: -80 dB.
    private static let silence = 1e-8
    /// Windows of 50 ms on each side of the joint.
    private static let windows = 20

    /// Whether the packets decode to samples around a time that differ no more from the source than around it. The packets begin
    /// before the first frame, and `frames` cover a second on both sides.
    func isClean(_ packets: [EncodedPacket], at time: Int64, _ frames: [SharedFrame]) throws(MediaError) -> Bool {
        var source = Timeline(start: time, rate: shape.rate)
        for shared in frames { source.add(shared.frame, shape) }
        let decoded = try decode(packets, around: time)
        guard !decoded.samples.isEmpty else { return false }
        let width = shape.rate / 20
        var errors = [Double](repeating: 0, count: 2 * Self.windows)
        var powers = errors
        for (index, value) in source.samples.enumerated() where decoded.isKnown[index] && source.isKnown[index] {
            let window = index / (width * shape.channels)
            guard window < errors.count else { break }
            let difference = Double(value - decoded.samples[index])
            errors[window] += difference * difference
            powers[window] += Double(value * value)
        }
        func pair(_ values: [Double], _ index: Int) -> Double { values[index] + values[index + 1] }
        let middle = Self.windows - 1
        guard pair(powers, middle) > Self.silence * Double(2 * width * shape.channels) else { return true }
        if let before = ratio(powers, errors, 0..<Self.windows),
            let behind = ratio(powers, errors, Self.windows..<2 * Self.windows), behind * Self.maxLoss < before
        {
            return false
        }
        let around = (0..<2 * Self.windows - 1).filter { abs($0 - middle) > 1 }
        return pair(errors, middle) <= Self.tolerance * around.map { pair(errors, $0) }.max()!
    }

    /// The median of the ratio of power to error in windows that are not silent; `nil` if all are.
    private func ratio(_ powers: [Double], _ errors: [Double], _ windows: Range<Int>) -> Double? {
        let least = Self.silence * Double(shape.rate / 20 * shape.channels)
        let ratios = windows.filter { powers[$0] > least }.map { powers[$0] / max(errors[$0], 1e-12) }.sorted()
        return ratios.isEmpty ? nil : ratios[ratios.count / 2]
    }

    private func decode(_ packets: [EncodedPacket], around time: Int64) throws(MediaError) -> Timeline {
        let decoder = try JointDecoder.open(encoder)
        let frame = try Frame()
        let copy = try Packet()
        var line = Timeline(start: time, rate: shape.rate)
        for packet in packets {
            try check(av_packet_ref(copy.pointer, packet.packet.pointer), "check a joint")
            // A decoder would drop samples that side data of the stream's start names.
            av_packet_free_side_data(copy.pointer)
            try decoder.send(copy)
            copy.clear()
            while try decoder.receive(into: frame) {
                guard let decoded = try? frame.shape, decoded.rate == shape.rate, decoded.channels == shape.channels
                else {
                    continue
                }
                line.add(frame, decoded)
            }
        }
        return line
    }

    /// Samples of two seconds around a time, interleaved, as floating point.
    private struct Timeline {
        private(set) var samples: [Float] = []
        private(set) var isKnown: [Bool] = []
        private let first: Int64
        private let count: Int

        init(start: Int64, rate: Int) {
            count = 2 * JointCheck.windows * (rate / 20)
            first = start - Int64(count / 2)
        }

        /// Adds the samples of a frame at its time.
        mutating func add(_ frame: borrowing Frame, _ shape: SampleShape) {
            let channels = shape.channels
            if samples.isEmpty {
                samples = [Float](repeating: 0, count: count * channels)
                isKnown = [Bool](repeating: false, count: count * channels)
            }
            guard let time = frame.timestamp else { return }
            for index in 0..<frame.samples {
                let place = Int(time - first) + index
                guard (0..<count).contains(place) else { continue }
                for channel in 0..<channels {
                    samples[place * channels + channel] = shape.value(frame, index, channel)
                    isKnown[place * channels + channel] = true
                }
            }
        }
    }
}

extension SampleShape {
    /// A sample as floating point, where full scale is 1.
    fileprivate func value(_ frame: borrowing Frame, _ index: Int, _ channel: Int) -> Float {
        let plane = UnsafeRawPointer(frame.planes[isPlanar ? channel : 0]!)
        let offset = (isPlanar ? index : index * channels + channel) * sampleBytes
        return switch av_get_packed_sample_fmt(format) {
        case AV_SAMPLE_FMT_S16: Float(plane.load(fromByteOffset: offset, as: Int16.self)) / 0x8000
        case AV_SAMPLE_FMT_S32: Float(plane.load(fromByteOffset: offset, as: Int32.self)) / 0x8000_0000
        default: plane.load(fromByteOffset: offset, as: Float.self)
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
