import CLibav
import Glibc
import MediaTypes

/// Keeps some of a source's channels, in an order of its own; samples pass as they are, whatever their format.
struct ChannelMap: ~Copyable {
    let output: SampleShape
    private let input: SampleShape
    private let places: [Int]
    private let result: Frame

    private init(_ input: SampleShape, _ output: SampleShape, _ places: [Int]) throws(MediaError) {
        result = try Frame()
        self.input = input
        self.output = output
        self.places = places
    }

    /// A map from a source's channels; the result keeps the layout if it has as many, and else the usual one.
    static func open(_ references: [ChannelReference], _ input: SampleShape) throws(MediaError) -> ChannelMap {
        var places: [Int] = []
        for reference in references { places.append(try input.layout.place(of: reference, "channel_map")) }
        var output = input
        if places.count != input.channels { output.layout = ChannelLayout(usualFor: places.count) }
        return try ChannelMap(input, output, places)
    }

    /// Maps a frame's samples into the frame that is answered to the body.
    borrowing func apply(_ frame: borrowing Frame, _ body: FrameBody) throws(MediaError) {
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

    private borrowing func copy(
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

extension ChannelLayout {
    /// The place from 0 of a channel that a job names in a field.
    func place(of reference: ChannelReference, _ field: String) throws(MediaError) -> Int {
        switch reference {
        case .number(let number) where number <= count: return number - 1
        case .speaker(let name):
            let channel = av_channel_from_string(name)
            if let place = place(of: channel) { return place }
            // A lone channel is left, right and centre.
            if count == 1, ["FL", "FR", "FC"].contains(name) { return 0 }
            // Surrounds are at the side in one layout and at the back in another.
            if let twin = Self.twins[name], let place = place(of: av_channel_from_string(twin)) { return place }
        default: break
        }
        let names = (0..<count).map { channelName(at: $0) }.joined(separator: " ")
        throw MediaError(
            .invalidSettings, "choose channels",
            "\(field) names the channel \(reference), and the source has \(count == 1 ? "only" : "the \(count) channels") \(names)"
        )
    }

    private static let twins = ["SL": "BL", "SR": "BR", "BL": "SL", "BR": "SR"]

    /// libav's short name of a channel, such as `FL`.
    private func channelName(at place: Int) -> String {
        withUnsafeTemporaryAllocation(of: CChar.self, capacity: 32) { text in
            av_channel_name(text.baseAddress, text.count, channel(at: place)) > 0
                ? String(cString: text.baseAddress!) : "c\(place + 1)"
        }
    }
}
