package import CLibav

/// How decoded samples lie in memory, and how many there are a second.
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

    /// libav's name of the format with channels interleaved: `s16`, `flt`.
    var packedName: String { String(cString: av_get_sample_fmt_name(av_get_packed_sample_fmt(format))) }

    package var isPlanar: Bool { av_sample_fmt_is_planar(format) != 0 }

    /// Whether samples of both are laid out alike.
    package func equals(_ other: SampleShape) -> Bool {
        format == other.format && rate == other.rate && layout.equals(other.layout.pointer)
    }
}
