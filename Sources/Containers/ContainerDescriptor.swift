/// All that is particular to a container: a new one has to say every bit of it.
///
/// What bytes tell is a function over bytes; what needs libav is an enumeration over which the targets above switch.
package struct ContainerDescriptor: Sendable {
    /// How far the container's own structure says its bytes go.
    package let extent: Extent
    /// What at the source's end is kept from libav.
    package let hidden: HiddenTail
    /// Finds the sizes that a writer to a pipe could not fill in; nothing for containers whose sizes are believed.
    package let unknownSize: (@Sendable (inout UnknownSize) throws -> Bool)?
    /// What libav has to be shown or told before it opens a source.
    package let opening: OpeningMethod
    /// Where tags are that libav does not read, or reads in part.
    package let tags: TagForm
    /// How to come to a sample without decoding all that is before it.
    package let seeking: SeekMethod
    /// Where the samples are told that an encoder put before and behind the sound.
    package let padding: PaddingSource
    /// How far the length that the header tells is to be believed.
    package let length: LengthPromise
    /// Where a sum of all samples is.
    package let checksum: ChecksumSource
    /// What time stamps and offsets of packets say where something is missing.
    package let timing: PacketTiming
    /// Where libav's word on a packet's place and time is put right.
    package let places: PlaceSource
    /// What stands between the frames.
    package let framing: FrameDelimiter
    /// Which of several tracks are read.
    package let tracks: TrackReading
    /// Which cut at the end loses no sound that was recorded.
    package let cut: HarmlessCut
    /// Bytes of a packet of uncompressed sound, where libav lets its reader choose.
    package let packetBytes: Int?
}

/// What at a source's end is kept from libav, which would take it for frames, a chunk or an index.
package struct HiddenTail: OptionSet, Sendable {
    package let rawValue: Int

    package init(rawValue: Int) { self.rawValue = rawValue }

    /// Tags of music files behind the last frame.
    static let tags = HiddenTail(rawValue: 1)
    /// All bytes behind the declared end; before tags, where both are.
    static let beyondExtent = HiddenTail(rawValue: 2)
}

/// What libav has to be shown or told before it opens a source.
package enum OpeningMethod: Sendable {
    case asIs
    /// The first frames of MPEG audio, made to look alike.
    case likeFrames
    /// The order of bytes in samples, which is that of the container.
    case byteOrder
    /// An edit list within a packet, which it should ignore.
    case edit
}

/// Where tags are that are read without libav.
package enum TagForm: Sendable {
    /// Nowhere else.
    case libav
    /// ID3v2 in front, APEv2 and ID3v1 behind.
    case ends
    /// Metadata blocks of FLAC.
    case flacBlocks
    /// The comment packet of an Ogg stream, so that a stream's title is the song's.
    case oggComment
    /// Boxes of MPEG-4.
    case movieBoxes
    /// Chunks of RIFF and AIFF, ID3v2 among them.
    case chunks
    /// The header object of ASF.
    case asfHeader
}

/// How to come to a sample without decoding all that is before it.
package enum SeekMethod: Sendable {
    /// Packets are read and counted up to it.
    case counting
    /// libav's own seek by time stamps, which count samples of this codec without doubt.
    case timestamps(of: CodecID)
    /// By headers of frames that follow each other without a gap.
    case frameHeaders
    /// By headers of blocks, each of which tells the sample that it begins with.
    case blockHeaders
    /// By the index of MPEG-4, which is in memory.
    case sampleIndex
    /// By the index of AVI, which is in memory.
    case chunkIndex
    /// By the granule positions of Ogg's pages.
    case granules
    /// By the blocks in the clusters of Matroska.
    case clusters
    /// By the tags of Flash video.
    case flashTags
    /// By the PES packets of MPEG-TS.
    case elementaryPackets
}

/// Where the samples are told that an encoder put before and behind the sound.
package enum PaddingSource: Sendable {
    /// Nowhere, or libav does all there is to do.
    case libav
    /// The extension of LAME in the header of Xing or Info.
    case lameTag
    /// The granule positions of Ogg.
    case granules
    /// The identification header of Opus in Matroska.
    case codecHeader
    /// The edit list of MPEG-4, or `iTunSMPB`.
    case editList
    /// The packet table of Core Audio.
    case packetTable
    /// The header of Musepack.
    case musepackHeader
    /// The size of the data, behind which libav reads on.
    case dataSize
}

/// How far the length that a header tells is to be believed.
package enum LengthPromise: Sendable {
    /// libav only guesses it.
    case guessed
    /// A few samples or packets more or less.
    case rounded
    /// It counts samples.
    case counted
    /// It counts samples of PCM, of which libav calls the last packet corrupt wherever it is shorter than the others.
    case countedIfPCM
}

/// Where a sum of all samples is.
package enum ChecksumSource: Sendable {
    case nowhere
    /// STREAMINFO of FLAC.
    case streamInfo
    /// The last block of WavPack.
    case lastBlock
}

/// What time stamps and offsets of packets say where something is missing.
package enum PacketTiming: Sendable {
    /// Nothing: libav adds the time stamps up from packet to packet, and the bytes between frames have to tell.
    case addedUp
    /// Time alone, which is the container's own.
    case stamped
    /// Time and bytes: a gap in both is damage.
    case placed
    /// The same, but packets are late by one of the container's, and the reader's own place tells.
    case placedLate
}

/// Where libav's word on a packet's place and time is put right.
package enum PlaceSource: Sendable {
    /// It is right.
    case libav
    /// The index of AVI.
    case chunkIndex
    /// The numbers of Ogg's pages.
    case pages
    /// The bytes of the frame itself.
    case frameBytes
}

/// What stands between the frames of a container.
package enum FrameDelimiter: Sendable {
    /// Structure of its own, from which libav goes on by itself.
    case container
    /// Nothing, up to the end.
    case nothing
    /// Nothing, and chance bytes that look like a frame; the headers of those that follow tell.
    case chain
    /// Blocks with a mark, for which libav does not look behind damage.
    case wavPackBlocks
}

/// Which of several tracks are read.
package enum TrackReading: Sendable {
    case chosen
    /// All: they cost little more, and show which bytes belong to none.
    case all
}

/// Which cut at the end of a source loses no sound that was recorded.
package enum HarmlessCut: Sendable {
    case none
    /// One behind the last sample that the index of MPEG-4 lists.
    case afterIndexedSamples
    /// One between two packets of a transport stream: its last frame may go on in one that came too late.
    case betweenTransportPackets
}
