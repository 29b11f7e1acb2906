/// All special properties of a container. A new container has to specify each of them.
///
/// Properties that can be computed from bytes are functions. Properties that need libav are enumerations, which the targets
/// above interpret.
package struct ContainerDescriptor: Sendable {
    /// The end of the data that the container's structure declares.
    package let extent: Extent
    /// Which bytes at the source's end are hidden from libav.
    package let hidden: HiddenTail
    /// Computes sizes that a writer to a pipe could not fill in; `nil` for containers whose sizes are trusted.
    package let unknownSize: (@Sendable (inout UnknownSize) throws -> Bool)?
    /// What libav needs before it opens a source.
    package let opening: OpeningMethod
    /// Where the tags are that libav does not read, or reads only partly.
    package let tags: TagForm
    /// How to seek to a sample without decoding everything before it.
    package let seeking: SeekMethod
    /// Where the container declares the encoder's delay and padding.
    package let padding: PaddingSource
    /// How accurate the length in the header is.
    package let length: LengthPromise
    /// Where a checksum of all samples is stored.
    package let checksum: ChecksumSource
    /// What the timestamps and offsets of packets show about missing data.
    package let timing: PacketTiming
    /// How libav's packet offsets and timestamps are corrected.
    package let places: PlaceSource
    /// What separates the frames.
    package let framing: FrameDelimiter
    /// Which of several tracks are read.
    package let tracks: TrackReading
    /// Which truncation at the end loses no recorded audio.
    package let cut: HarmlessCut
    /// The packet size in bytes for uncompressed audio, if libav's demuxer lets its caller choose.
    package let packetBytes: Int?
}

/// What at a source's end is hidden from libav, which would read it as frames, a chunk or an index.
package struct HiddenTail: OptionSet, Sendable {
    package let rawValue: Int

    package init(rawValue: Int) { self.rawValue = rawValue }

    /// Tags of music files behind the last frame.
    static let tags = HiddenTail(rawValue: 1)
    /// All bytes behind the declared end. If both options are set, this one takes precedence over tags.
    static let beyondExtent = HiddenTail(rawValue: 2)
}

/// What libav needs before it opens a source.
package enum OpeningMethod: Sendable {
    case asIs
    /// The first frames of MPEG audio are presented with equal headers.
    case likeFrames
    /// The samples have the container's byte order, or are frames of another codec.
    case samples
    /// Edits are applied to decoded samples. libav applies them to whole packets.
    case withoutEdits
    /// The seek table of Musepack is hidden.
    case withoutSeekTable
}

/// Where tags are that are read without libav.
package enum TagForm: Sendable {
    /// None: libav reads all tags.
    case libav
    /// None; pictures are attachments of Matroska, which libav reads.
    case attachments
    /// ID3v2 and APEv2 at the start, APEv2 and ID3v1 at the end.
    case ends
    /// FLAC metadata blocks.
    case flacBlocks
    /// The comment packet of an Ogg stream, in which a stream's title is the song's title.
    case oggComment
    /// MPEG-4 boxes.
    case movieBoxes
    /// RIFF and AIFF chunks, including ID3v2.
    case chunks
    /// The ASF header object.
    case asfHeader
}

/// How to seek to a sample without decoding everything before it.
package enum SeekMethod: Sendable {
    /// Packets are read and counted up to the sample.
    case counting
    /// libav seeks by timestamps. For this codec, they count samples exactly.
    case timestamps(of: CodecID)
    /// By the headers of consecutive frames.
    case frameHeaders
    /// By block headers, each of which contains the index of its first sample.
    case blockHeaders
    /// By the MPEG-4 sample index, which is in memory.
    case sampleIndex
    /// By the AVI index, which is in memory.
    case chunkIndex
    /// By the granule positions of Ogg pages.
    case granules
    /// By the blocks in Matroska clusters.
    case clusters
    /// By Flash video tags.
    case flashTags
    /// By MPEG-TS PES packets.
    case elementaryPackets
}

/// Where the container declares the encoder's delay and padding.
package enum PaddingSource: Sendable {
    /// Nowhere, or libav applies them completely.
    case libav
    /// LAME's extension of the Xing or Info header, or the comment `iTunSMPB` in ID3v2.
    case lameTag
    /// The granule positions of Ogg.
    case granules
    /// The identification header of Opus in Matroska.
    case codecHeader
    /// The edit list of MPEG-4, or `iTunSMPB`.
    case editList
    /// The Core Audio packet table.
    case packetTable
    /// The Musepack header.
    case musepackHeader
    /// The number of samples in the `fact` chunk, for blocks of ADPCM and GSM.
    case factChunk
    /// The size of the data. libav reads beyond it.
    case dataSize
}

/// How accurate the length in a header is.
package enum LengthPromise: Sendable {
    /// libav only estimates it.
    case guessed
    /// It is accurate to a few samples or packets.
    case rounded
    /// It counts samples exactly.
    case counted
    /// It counts PCM samples exactly. libav marks the last PCM packet as corrupt if it is shorter than the others.
    case countedIfPCM
}

/// Where a checksum of all samples is stored.
package enum ChecksumSource: Sendable {
    case nowhere
    /// FLAC's STREAMINFO block.
    case streamInfo
    /// The last WavPack block.
    case lastBlock
}

/// What the timestamps and offsets of packets show about missing data.
package enum PacketTiming: Sendable {
    /// Nothing: libav derives timestamps by adding packet durations, so only the bytes between frames show a gap.
    case addedUp
    /// Only the timestamps, which the container stores, show a gap.
    case stamped
    /// Timestamps and offsets: a gap in both is damage. Bytes may be lost before the first packet, too.
    case placed(LostStart)
    /// Like `placed`, but libav's packet offsets are late by one container packet, so the demuxer's position is used instead.
    case placedLate(LostStart)

    /// Whether only the bytes between frames show a gap.
    package var isAddedUp: Bool { if case .addedUp = self { true } else { false } }
}

/// How libav's packet offsets and timestamps are corrected.
package enum PlaceSource: Sendable {
    /// They are correct.
    case libav
    /// By the AVI index.
    case chunkIndex
    /// By the sequence numbers of Ogg pages.
    case pages
    /// By the frame's own bytes.
    case frameBytes
}

/// What separates the frames of a container.
package enum FrameDelimiter: Sendable {
    /// The container's structure, with which libav resynchronizes by itself.
    case container
    /// Nothing, up to the end.
    case nothing
    /// Nothing, and random bytes may look like a frame. The headers of the following frames identify a real one.
    case chain
    /// Blocks with a sync mark, for which libav does not search behind damage.
    case wavPackBlocks
}

/// Which of several tracks are read.
package enum TrackReading: Sendable {
    case chosen
    /// All tracks: this costs little more, and shows which bytes belong to no track.
    case all
}

/// Which truncation at the end of a source loses no recorded audio.
package enum HarmlessCut: Sendable {
    case none
    /// After the last sample that the MPEG-4 index lists.
    case afterIndexedSamples
    /// Between two transport stream packets: the rest of the last frame may have been in a packet that was never written.
    case betweenTransportPackets
    /// None; but libav reads about 1,000 bytes at a time, and marks the last, shorter read as corrupt.
    case insideReads
}
