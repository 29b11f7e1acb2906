package import CLibav

/// The format, rate and channel layout of decoded samples.
package struct SampleShape {
    /// libav's format of one sample, planar or interleaved.
    package var format: AVSampleFormat
    /// Hz.
    package var rate: Int
    /// The channels and their order.
    package var layout: ChannelLayout

    package init(format: AVSampleFormat, rate: Int, layout: ChannelLayout) {
        self.format = format
        self.rate = rate
        self.layout = layout
    }

    /// The number of channels.
    package var channels: Int { layout.count }

    /// Bytes of one sample of one channel.
    package var sampleBytes: Int { Int(av_get_bytes_per_sample(format)) }

    /// Whether each channel has a separate buffer.
    package var isPlanar: Bool { av_sample_fmt_is_planar(format) != 0 }

    /// Whether both shapes are the same.
    package func equals(_ other: SampleShape) -> Bool {
        format == other.format && rate == other.rate && layout.equals(other.layout.pointer)
    }
}
