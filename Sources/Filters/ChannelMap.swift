import Bytes
import CLibav
import Glibc
import Libav
import MediaTypes

/// Selects and reorders channels. Sample values do not change, whatever their format.
final class ChannelMap: SoundStage {
    let output: SampleShape
    private let input: SampleShape
    private let places: [Int]
    private let result: Frame

    /// Maps the input's channels. The output keeps the layout if the channel count stays the same; otherwise it has the default
    /// layout of its count.
    init(_ references: [ChannelReference], _ input: SampleShape) throws(MediaError) {
        var places: [Int] = []
        for reference in references { places.append(try input.layout.place(of: reference, "channel_map")) }
        var output = input
        if places.count != input.channels { output.layout = ChannelLayout(defaultFor: places.count) }
        result = try Frame()
        (self.input, self.output, self.places) = (input, output, places)
    }

    /// Copies the selected channels into a frame and passes it to the body.
    func append(_ frame: borrowing Frame, _ body: FrameBody) throws(MediaError) {
        try result.reserve(frame.samples, output)
        let size = input.sampleBytes
        for (target, source) in places.enumerated() {
            if input.isPlanar {
                memcpy(result.planes[target]!, frame.planes[source]!, frame.samples * size)
            } else {
                copy(frame.planes[0]! + source * size, result.planes[0]! + target * size, frame.samples, size)
            }
        }
        try body(result)
    }

    private func copy(
        _ source: UnsafeMutablePointer<UInt8>, _ target: UnsafeMutablePointer<UInt8>, _ count: Int, _ size: Int
    ) {
        let (step, stride) = (size * input.channels, size * output.channels)
        switch size {
        case 2: Self.copy(UInt16.self, source, step, target, stride, count)
        case 4: Self.copy(UInt32.self, source, step, target, stride, count)
        case 8: Self.copy(UInt64.self, source, step, target, stride, count)
        default: Self.copy(UInt8.self, source, step, target, stride, count)
        }
    }

    private static func copy<Sample: BitwiseCopyable>(
        _ type: Sample.Type, _ source: UnsafeMutableRawPointer, _ step: Int, _ target: UnsafeMutableRawPointer,
        _ stride: Int, _ count: Int
    ) {
        for index in 0..<count {
            (target + index * stride).storeBytes(of: (source + index * step).load(as: type), as: type)
        }
    }
}
