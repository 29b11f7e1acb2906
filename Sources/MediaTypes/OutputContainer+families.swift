// Formats that differ only in a few fields.
extension OutputContainer {
    /// MPEG-4, but not QuickTime.
    static func movie(_ muxer: String, _ options: [Option]) -> OutputContainer {
        OutputContainer(
            muxer: .named(muxer), options: options, demuxer: nil, tags: .movie(isQuickTime: false),
            gapless: .editList, holdsSeveralTracks: true, length: .exact, check: .packets(headerBytes: 0),
            completion: .none, maxBytes: .max)
    }

    static func ogg(_ muxer: String) -> OutputContainer {
        OutputContainer(
            muxer: .named(muxer), options: [], demuxer: nil, tags: .oggComment, gapless: .granules,
            holdsSeveralTracks: false, length: .exact, check: .packets(headerBytes: 0), completion: .none,
            maxBytes: .max)
    }

    static func matroska(_ muxer: String, takesPictures: Bool) -> OutputContainer {
        OutputContainer(
            muxer: .named(muxer), options: [], demuxer: nil,
            tags: .dictionary(.init(names: nil, takesPictures: takesPictures, takesChapters: true)),
            gapless: .codecDelay, holdsSeveralTracks: true, length: .undeclared, check: .packets(headerBytes: 0),
            completion: .none, maxBytes: .max)
    }

    static func wave(_ muxer: String, _ options: [Option]) -> OutputContainer {
        OutputContainer(
            muxer: .named(muxer), options: options, demuxer: nil, tags: .waveChunks, gapless: .none,
            holdsSeveralTracks: false, length: .exactForPCM, check: .packets(headerBytes: 0),
            completion: .broadcastWave, maxBytes: .max)
    }

    /// Uncompressed samples with size fields of 32 bits.
    static func bigEndian(_ muxer: String, tags: TagLocation) -> OutputContainer {
        OutputContainer(
            muxer: .named(muxer), options: [], demuxer: nil, tags: tags, gapless: .none, holdsSeveralTracks: false,
            length: .exact, check: .packets(headerBytes: 0), completion: .none, maxBytes: Int64(UInt32.max) - 64)
    }

    /// Frames without a header that declares their number.
    static func frames(
        _ muxer: String, demuxer: String?, tags: TagLocation, headerBytes: Int64
    ) -> OutputContainer {
        OutputContainer(
            muxer: .named(muxer), options: [], demuxer: demuxer, tags: tags, gapless: .none,
            holdsSeveralTracks: false, length: .undeclared, check: .packets(headerBytes: headerBytes),
            completion: .none, maxBytes: .max)
    }

    /// A lossless codec's own container, which declares the number of samples.
    static func counted(_ muxer: String) -> OutputContainer {
        OutputContainer(
            muxer: .named(muxer), options: [], demuxer: nil, tags: .apeBehind, gapless: .none,
            holdsSeveralTracks: false, length: .exact, check: .packets(headerBytes: 0), completion: .none,
            maxBytes: .max)
    }

    /// Files that are not verified by a demuxer.
    static func ofOwn(_ muxer: MuxerName, tags: TagLocation) -> OutputContainer {
        OutputContainer(
            muxer: muxer, options: [], demuxer: nil, tags: tags, gapless: .none, holdsSeveralTracks: false,
            length: .undeclared, check: .bytes, completion: .none, maxBytes: .max)
    }
}

extension CodecLimits {
    /// In these containers the timestamps of Opus use the rate of its header, but the decoder always outputs 48 kHz.
    static let opusAt48kHz = CodecLimits(
        sampleRates: 48_000...48_000, maxChannels: nil, layouts: nil, isCopied: true)
    /// libavformat does not write a channel map into Core Audio files, nor a header that could contain Opus's pre-skip.
    static let opusInCoreAudio = CodecLimits(
        sampleRates: 48_000...48_000, maxChannels: 2, layouts: nil, isCopied: false)
    /// MPEG-4 does not support MPEG-2.5 (ISO 14496-3).
    static let withoutMPEG25 = CodecLimits(
        sampleRates: 16_000...48_000, maxChannels: nil, layouts: nil, isCopied: true)
    /// In these containers, libav does not write or does not read a channel mask of FLAC.
    static let flacWithoutMask = CodecLimits(
        sampleRates: nil, maxChannels: nil, layouts: AudioCodec.xiph, isCopied: true)
    /// libavformat removes the header of WavPack that declares its length.
    static let uncopied = CodecLimits(sampleRates: nil, maxChannels: nil, layouts: nil, isCopied: false)
}
