import CLibav

/// How decoded samples lie in memory, and how many there are a second.
struct SampleShape {
    var format: AVSampleFormat
    /// Hz.
    var rate: Int
    var layout: ChannelLayout

    var channels: Int { layout.count }

    /// Bytes of one sample of one channel.
    var sampleBytes: Int { Int(av_get_bytes_per_sample(format)) }

    /// libav's name of the format with channels interleaved: `s16`, `flt`.
    var packedName: String { String(cString: av_get_sample_fmt_name(av_get_packed_sample_fmt(format))) }

    var isPlanar: Bool { av_sample_fmt_is_planar(format) != 0 }

    func equals(_ other: SampleShape) -> Bool {
        format == other.format && rate == other.rate && layout.equals(other.layout.pointer)
    }
}
