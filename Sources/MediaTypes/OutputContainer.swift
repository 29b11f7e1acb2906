/// How files of one format are written. No field has a default, so every row of the table must set all of them.
package struct OutputContainer: Sendable {
    /// libav's muxer.
    package let muxer: MuxerName
    /// Options of the muxer, in addition to those of the edit list.
    package let options: [Option]
    /// libav's name of the demuxer, for formats that libav does not recognize in a file of a few frames.
    package let demuxer: String?
    /// The location and form of tags.
    package let tags: TagLocation
    /// How it declares padding.
    package let gapless: GaplessSignaling
    /// Whether a file can contain several audio tracks.
    package let holdsSeveralTracks: Bool
    /// How exactly its header declares the length.
    package let length: HeaderLength
    /// How a finished file is verified.
    package let check: OutputCheckKind
    /// What is corrected in a finished file.
    package let completion: FileCompletion
    /// The largest file that its size fields allow.
    package let maxBytes: Int64

    /// An option of a muxer.
    package typealias Option = (name: String, value: String)

    /// libav's name of the muxer.
    package enum MuxerName: Sendable {
        case named(String)
        /// The name of the sample format: the file contains only samples.
        case ofSamples
        /// The format is not written by a muxer of libav.
        case none
    }
}

/// How exactly the header of a finished file declares the length of the audio.
package enum HeaderLength: Sendable {
    case undeclared
    case exact
    /// It may exceed the exact length by that many samples, because it is rounded up to a frame or to a number of bytes.
    case within(Int64)
    /// Exact for PCM, not declared for other codecs.
    case exactForPCM
    /// Exact for PCM, rounded up to a packet of at most that many samples for other codecs.
    case packets(Int64)
}

/// How the audio of a finished file is verified.
package enum OutputCheckKind: Sendable {
    /// By its packets, each of which has a header of that many bytes in the file.
    case packets(headerBytes: Int64)
    /// By the bytes of its FLAC frames, because libav's parser mistakes some of their bytes for frame headers.
    case flacFrames
    /// By the length of the file, which contains only samples.
    case bytes
}

/// What is corrected in a finished file after libav's muxer.
package enum FileCompletion: Sendable {
    case none
    /// The size of the audio in the `ds64` chunk of RF64.
    case broadcastWave
    /// The size of the `data` chunk of Wave64.
    case wave64
    /// The packet table of Core Audio files, for compressed audio.
    case packetTable
    /// The duration of the only sample of a compressed QuickTime track.
    case onlySample
}

/// The location and form of tags in a format.
package enum TagLocation: Sendable {
    /// An ID3v2 tag before the audio.
    case id3Ahead
    /// An ID3v2 tag at the start of a segmented stream, which players show as the current title.
    case timedID3
    /// Metadata blocks after FLAC's first one.
    case flacBlocks
    /// The comment packet of an Ogg stream.
    case oggComment
    /// An `ilst` in the `moov` box.
    case movie(isQuickTime: Bool)
    /// Chunks after the audio of a RIFF file.
    case waveChunks
    /// An ID3v2 tag in a chunk of an AIFF file.
    case aiffChunk
    /// An APEv2 tag after the audio.
    case apeBehind
    /// Objects in the header of an ASF file.
    case asfHeader
    /// libav writes the tags.
    case dictionary(Dictionary)
    case none

    /// The capabilities of a container whose tags libav writes.
    package struct Dictionary: Sendable {
        /// The only supported names; `nil` if any is supported.
        package let names: [String]?
        /// Whether it stores pictures.
        package let takesPictures: Bool
        /// Whether it stores chapters.
        package let takesChapters: Bool
    }
}

/// The limits of a codec in one format, in addition to its own.
package struct CodecLimits: Sendable {
    /// In Hz; `nil` for all that the codec supports.
    let sampleRates: ClosedRange<Int>?
    let maxChannels: Int?
    /// The only layouts that the format can declare; `nil` for all of the codec's.
    let layouts: [String]?
    /// Whether packets of the codec can be copied into the format.
    let isCopied: Bool
}
