package import CLibav

/// The format, rate and channel layout of decoded samples.
package struct SampleShape {
    package var format: AVSampleFormat
    /// Hz.
    package var rate: Int
    package var layout: ChannelLayout

    package init(format: AVSampleFormat, rate: Int, layout: ChannelLayout) {
        self.format = format
        self.rate = rate
        self.layout = layout
    }

    package var channels: Int { layout.count }

    /// Bytes of one sample of one channel.
    package var sampleBytes: Int { Int(av_get_bytes_per_sample(format)) }

    package var isPlanar: Bool { av_sample_fmt_is_planar(format) != 0 }

    /// Whether both shapes are the same.
    package func equals(_ other: SampleShape) -> Bool {
        format == other.format && rate == other.rate && layout.equals(other.layout.pointer)
    }
}
