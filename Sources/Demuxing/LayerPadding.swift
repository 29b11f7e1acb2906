import CLibav
import Containers

/// The encoder delay and padding of an MP3 file, in samples of all its frames.
package struct LayerPadding {
    /// Samples before the first sample of the source.
    package let delay: Int64
    /// The samples behind its last one; `nil` if unknown.
    package let padding: Range<Int64>?

    /// The samples between delay and padding; `nil` if unknown.
    package var audible: Int64? { padding.flatMap { $0.lowerBound > delay ? $0.lowerBound - delay : nil } }

    /// The decoder's delay.
    private static let decoderDelay: Int64 = 529

    /// Reads LAME's extension of the Xing header, or else the comment of iTunes; `nil` if there is neither.
    init?(_ xing: XingHeader?, _ metadata: OpaquePointer?) {
        guard let xing, let delay = xing.delay, let padding = xing.padding else {
            self.init(iTunes: metadata)
            return
        }
        let end = (xing.frames ?? 0) * xing.frameLength
        let start = min(end - padding + Self.decoderDelay, end)
        self.init(delay: delay + Self.decoderDelay, padding: end > 0 ? start..<end : nil)
    }

    private init(delay: Int64, padding: Range<Int64>?) {
        self.delay = delay
        self.padding = padding
    }

    /// Delay, padding and length in hexadecimal numbers behind a zero (`iTunSMPB`). They include the decoder's delay.
    private init?(iTunes metadata: OpaquePointer?) {
        guard let entry = av_dict_get(metadata, "iTunSMPB", nil, 0) else { return nil }
        let fields = String(cString: entry.pointee.value).split(separator: " ").prefix(4).map { Int64($0, radix: 16) }
        guard fields.count == 4, let delay = fields[1], let padding = fields[2], let count = fields[3],
            (0...Self.maxGap).contains(delay), (0...Self.maxGap).contains(padding), (1...Int64(1) << 48).contains(count)
        else { return nil }
        self.init(delay: delay, padding: (delay + count)..<(delay + count + padding))
    }

    /// More than an encoder's delay or padding of a few frames.
    private static let maxGap: Int64 = 16_384
}
