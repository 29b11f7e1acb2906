package import CLibav
package import Containers
import MediaTypes

/// An audio stream of a container, as its header describes it.
package struct AudioTrack {
    /// The stream's index in the container.
    package let index: Int
    /// libav's codec ID.
    package let codec: AVCodecID
    /// `generic` also for codecs that are not decoded.
    package let codecID: CodecID
    /// The codec tag in the container.
    package let codecTag: UInt32
    /// Hz. The decoder may correct it.
    package var rate: Int
    /// The number of channels in the header.
    package let channels: Int
    /// Bits a second; zero if the container does not declare it.
    package let bitRate: Int
    /// The unit of timestamps, in seconds.
    package let timeBase: AVRational
    /// Units of the time base; `nil` if the container does not declare it.
    package let startTime: Int64?
    /// Units of the time base; `nil` if the container does not declare it.
    package let duration: Int64?
    /// Samples of encoder delay that are included in the container's duration.
    package let countedDelay: Int64
    /// Whether the container declares the channel order.
    package let namesChannels: Bool
    /// Whether the header declares encryption.
    package let hasEncryption: Bool
    /// The kind of AAC by its AudioSpecificConfig (ISO 14496-3, 1.6.2.1); `nil` if there is none.
    package let aacObjectType: Int?

    /// Copies the values, so that they outlive the stream.
    package init(_ stream: UnsafeMutablePointer<AVStream>) {
        let parameters = stream.pointee.codecpar.pointee
        index = Int(stream.pointee.index)
        codec = parameters.codec_id
        codecID = CodecID(codec) ?? .generic
        codecTag = parameters.codec_tag
        rate = Int(parameters.sample_rate)
        channels = Int(parameters.ch_layout.nb_channels)
        bitRate = Int(parameters.bit_rate)
        timeBase = stream.pointee.time_base
        startTime = stream.pointee.start_time == av_swift_no_timestamp ? nil : stream.pointee.start_time
        duration = stream.pointee.duration == av_swift_no_timestamp ? nil : stream.pointee.duration
        countedDelay = codec == AV_CODEC_ID_OPUS ? Int64(parameters.initial_padding) : 0
        namesChannels = parameters.ch_layout.order != AV_CHANNEL_ORDER_UNSPEC
        hasEncryption = av_swift_has_side_data(stream, AV_PKT_DATA_ENCRYPTION_INIT_INFO) != 0
        let setup = UnsafeBufferPointer(start: parameters.extradata, count: Int(parameters.extradata_size))
        aacObjectType = codec == AV_CODEC_ID_AAC && setup.count >= 2 ? Self.objectType(setup[0], setup[1]) : nil
    }

    private static func objectType(_ first: UInt8, _ second: UInt8) -> Int {
        let short = Int(first >> 3)
        return short == 31 ? 32 + (Int(first & 7) << 3 | Int(second >> 5)) : short
    }

    /// Whether the codec is xHE-AAC (USAC), whose frames are coded by those before them, back to an independent one.
    package var isExtendedAAC: Bool { aacObjectType == 42 }

    /// libav's name of the codec.
    package var codecName: String { String(cString: avcodec_get_name(codec)) }

    /// The codec's name for messages: if libav does not know the codec, its tag in the container; `nil` if it has none.
    package var codecLabel: String? {
        guard codec == AV_CODEC_ID_NONE else { return codecName }
        let tag = withUnsafeBytes(of: codecTag.littleEndian) { Array($0) }
        guard tag.allSatisfy({ (0x20..<0x7F).contains($0) }) else {
            return codecTag > 0 ? "0x" + String(codecTag, radix: 16) : nil
        }
        return "'\(String(decoding: tag, as: UTF8.self))'"
    }

    /// Whether the samples are uncompressed.
    package var isPCM: Bool { codecID == .pcm }

    /// Whether the timestamps are in units of one sample.
    package var countsSamples: Bool { timeBase.num == 1 && Int(timeBase.den) == rate }

    /// Converts a length from units of the time base to samples; `nil` if it is implausible.
    package func samples(_ time: Int64) -> Int64? {
        let samples = av_rescale_q(time, timeBase, AVRational(num: 1, den: CInt(rate)))
        return (0...Int64(1) << 55).contains(samples) ? samples : nil
    }
}
