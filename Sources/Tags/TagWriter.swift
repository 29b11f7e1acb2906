package import Bytes
import CTagLib
import Containers
package import Libav
package import MediaTypes

/// Writes an output's tags: reserves space for them in the muxer's output, and fills it at the end.
///
/// The tags are rendered before the muxer starts, so that its bytes never have to be moved.
package struct TagWriter: Sendable {
    /// The tags that the muxer receives before it writes its header.
    package private(set) var header = HeaderTags()
    /// Warnings about tags that the format cannot store.
    package private(set) var warnings: [Warning] = []
    /// Whether Apple's players read the delay and padding from the tag `iTunSMPB`.
    package let usesITunSMPB: Bool
    private var metadata: Metadata
    private let place: TagLocation
    private let format: String
    /// Whether memory was exhausted.
    private var isTooLarge = false

    /// Bytes reserved for what is only known at the end, such as the exact padding or a loudness.
    private static let slack = 512

    /// Takes the source's metadata, already cut to the range. `rate` is the output's rate in Hz, `sourceRate` the source's.
    package init(
        _ source: Metadata, _ settings: TagSettings, format: AudioFormat, codec: AudioCodec, rate: Int, sourceRate: Int,
        layout: ChannelLayout? = nil
    ) {
        metadata = source
        place = format.container.tags
        self.format = format.name
        usesITunSMPB = if case .movie(isQuickTime: false) = place { codec.words.usesITunSMPB } else { false }
        warnings = source.warnings
        if settings.chapters != nil, source.chapters.isEmpty {
            drop(.chaptersMissing, "the source has no chapters, so no chapter file was written")
        }
        metadata.set(settings)
        metadata.convertGainTags(to: codec.words.loudness)
        metadata.wave.rescale(from: sourceRate, to: rate)
        metadata.spellLyrics()
        if case .flacBlocks = place, let mask = layout?.maskOfFLAC {
            // libav's muxer writes it in the comments that respool replaces.
            metadata.texts["WAVEFORMATEXTENSIBLE_CHANNEL_MASK"] = [mask]
        }
        leaveOut()
        prepare()
    }

    /// Sets a text that was not known at the start. The reserved space suffices for a few.
    mutating func set(_ name: String, _ values: [String]) {
        guard place.takesTexts else { return }
        metadata.texts[TagName.neutral(name)] = values
    }

    /// Sets the encoder delay and padding in samples, in the form that Apple's players read.
    package mutating func setGapless(priming: Int64, padding: Int64, samples: Int64) {
        func hex(_ number: Int64, _ digits: Int) -> String {
            let text = String(number, radix: 16, uppercase: true)
            return String(repeating: "0", count: max(digits - text.count, 0)) + text
        }
        let zeros = Array(repeating: hex(0, 8), count: 8).joined(separator: " ")
        metadata.texts["ITUNSMPB"] = [
            " \(hex(0, 8)) \(hex(priming, 8)) \(hex(padding, 8)) \(hex(samples, 16)) \(zeros)"
        ]
    }

    /// Removes what the format cannot store, and adds warnings.
    private mutating func leaveOut() {
        if !place.takesTexts, !metadata.texts.isEmpty {
            drop(
                .tagsDropped,
                "\(format) does not support tags, so these were left out: \(Self.listed(metadata.texts.keys))")
            metadata.texts = [:]
        }
        if case .dictionary(let dictionary) = place, let names = dictionary.names {
            let others = metadata.texts.keys.filter { !names.contains($0) }
            if !others.isEmpty {
                drop(.tagsDropped, "\(format) does not support these tags: \(Self.listed(others))")
                for name in others { metadata.texts[name] = nil }
            }
        }
        let pictures = metadata.pictures.count
        metadata.pictures = metadata.pictures.filter { place.takes($0) }
        if metadata.pictures.count < pictures {
            drop(
                .picturesDropped,
                "\(format) does not support \(pictures - metadata.pictures.count) of \(pictures) pictures")
        }
        leaveOutChapters()
        if case .timedID3 = place { leaveOutOfStream() }
        if case .waveChunks = place { return }
        if metadata.wave.broadcast != nil {
            drop(.tagsDropped, "\(format) does not support the broadcast extension (bext)")
        }
        metadata.wave = WaveMetadata()
    }

    /// Removes chapters, and what belongs to them, that the format cannot store.
    private mutating func leaveOutChapters() {
        let advice = "; set `chapters` to `json` or `webvtt` to write them beside it"
        let count = metadata.chapters.count
        if count > 0, !place.takesChapters {
            drop(.chaptersDropped, "\(format) does not support the \(count) chapters\(advice)")
            metadata.chapters = []
        }
        if let most = place.maxChapters, metadata.chapters.count > most {
            drop(
                .chaptersDropped,
                "\(format) does not support more than \(most) chapters, so the last \(count - most) of \(count) were left "
                    + "out\(advice)")
            metadata.chapters.removeLast(count - most)
        }
        guard !place.takesChapterFrames else { return }
        let isLinked = place.takesChapterLinks
        let poorer = metadata.chapters.count { !$0.frames.isEmpty || !(isLinked || $0.link.isEmpty) }
        guard poorer > 0 else { return }
        let parts = isLinked ? "pictures" : "pictures and links"
        drop(.tagsDropped, "\(format) does not support \(parts) of chapters, so those of \(poorer) were left out")
        for index in metadata.chapters.indices {
            metadata.chapters[index].frames = []
            if !isLinked { metadata.chapters[index].link = "" }
        }
    }

    /// Removes large tags, and tags for files only, because each variant's first segment contains all tags of a stream.
    private mutating func leaveOutOfStream() {
        let long = metadata.texts.filter { $0.value.reduce(0) { $0 + $1.utf8.count } > Self.longestStreamText }.keys
        if !long.isEmpty {
            drop(.tagsDropped, "\(format) does not support tags this long: \(Self.listed(long))")
            for name in long { metadata.texts[name] = nil }
        }
        guard !metadata.frames.isEmpty || !metadata.lines.isEmpty else { return }
        drop(.tagsDropped, "\(format) does not support synchronized lyrics and the data of other ID3 frames")
        (metadata.frames, metadata.lines) = ([], [])
    }

    /// The maximum size in bytes of the values of a name.
    private static let longestStreamText = 4096

    private mutating func drop(_ code: Warning.Code, _ sentence: String) { warnings.append(Warning(code, sentence)) }

    private static func listed(_ names: some Sequence<String>) -> String {
        let names = names.map { TagName.shown($0) }.sorted()
        let most = 50
        return names.prefix(most).joined(separator: ", ")
            + (names.count > most ? " and \(names.count - most) more" : "")
    }

    /// Reserves space in the muxer's output.
    private mutating func prepare() {
        header.isAnonymous = place.wantsNoneOfLibav
        if place.hasLibavChapters { header.chapters = metadata.chapters }
        switch place {
        case .id3Ahead: header.prefix = metadata.isEmpty ? [] : render(TAG_FORM_ID3) ?? []
        case .timedID3: header.prefix = id3() ?? []
        case .flacBlocks:
            fitPictures()
            header.padding = Self.size(of: blocks()) + Self.slack + 4096
        case .oggComment:
            guard !metadata.isEmpty else { return }
            let size = (render(TAG_FORM_VORBIS_WITH_PICTURES)?.count ?? 0) + Self.slack
            header.streamEntries = [("comment", Self.filler(size))]
        case .movie(let isQuickTime):
            let size = (render(TAG_FORM_MPEG4)?.count ?? 0) + Self.slack
            header.entries = [(isQuickTime ? "xmp" : "comment", Self.filler(size))]
            // libav's list of Nero (`chpl`) ends there, and players prefer it to the chapter track.
            if metadata.chapters.count > 255 { header.options = [("movflags", "+disable_chpl")] }
        case .waveChunks:
            if let bytes = metadata.wave.broadcast?.bytes { keepBroadcastRoom(bytes.count) }
        case .asfHeader:
            let need = metadata.isEmpty ? 0 : AdvancedSystemsTags.room(metadata) + Self.slack
            header.entries = AdvancedSystemsTags.fillers(need)
        case .dictionary:
            header.entries = metadata.texts.map { (TagName.libav($0.key), $0.value.joined(separator: "; ")) }
                .sorted { $0.name < $1.name }
            header.attachments = metadata.pictures
        case .aiffChunk, .apeBehind, .none: break
        }
    }

    private static func filler(_ size: Int) -> String { String(repeating: "-", count: size) }

    /// libav writes a `bext` chunk of 602 bytes, and behind them the coding history and a zero if there is one, even an empty one.
    private mutating func keepBroadcastRoom(_ size: Int) {
        header.options = [("write_bext", "1")]
        let behind = size - BroadcastExtension.fixedSize
        if behind > 0 { header.entries = [("coding_history", Self.filler(behind - 1))] }
    }

    /// FLAC's padding is a single block, whose length has 24 bits.
    private mutating func fitPictures() {
        let comment = render(TAG_FORM_VORBIS)?.count ?? 0
        var left = (1 << 24) - 1 - comment - Self.slack - 4096 - 16
        let pictures = metadata.pictures.count
        metadata.pictures = metadata.pictures.filter { picture in
            let size = picture.bytes.count + picture.description.utf8.count + picture.mediaType.utf8.count + 64
            guard size <= left else { return false }
            left -= size
            return true
        }
        if metadata.pictures.count < pictures {
            drop(.picturesDropped, "flac does not support more than 16 MiB of pictures")
        }
    }

    /// Writes the tags into the finished file.
    package mutating func finish(_ store: any RandomAccessOutput) throws(MediaError) {
        let isPlaced: Bool
        do { isPlaced = try put(store) } catch {
            throw MediaError(.store(error), "write the tags", "the tags could not be written: \(error)")
        }
        try checkSize()
        guard isPlaced else {
            throw MediaError(.internal, "write the tags", "the tags do not fit into the reserved space")
        }
    }

    /// Throws if memory was exhausted while rendering.
    package func checkSize() throws(MediaError) {
        guard isTooLarge else { return }
        throw MediaError(.internal, "write the tags", "out of memory for the tags and pictures")
    }

    private mutating func put(_ store: any RandomAccessOutput) throws -> Bool {
        let source = StoredSource(store)
        switch place {
        case .dictionary, .timedID3, .none: return true
        case .id3Ahead:
            guard !header.prefix.isEmpty, let tag = render(TAG_FORM_ID3) else { return true }
            guard let tag = TagBytes.id3(tag, padded: header.prefix.count) else { return false }
            try tag.withUnsafeBytes { try store.write($0, at: 0) }
            return true
        case .flacBlocks:
            return try metadata.isEmpty || FlacBlocks(source)?.replace(with: blocks(), in: store) ?? false
        case .oggComment:
            guard !metadata.isEmpty else { return true }
            guard let comment = render(TAG_FORM_VORBIS_WITH_PICTURES) else { return false }
            return try OggComment(source)?.replace(with: comment, in: store) ?? false
        case .movie(let isQuickTime):
            let list = render(TAG_FORM_MPEG4) ?? [0, 0, 0, 8] + Array("ilst".utf8)
            return try MovieTags(source)?.replace(with: list, isQuickTime: isQuickTime, in: store) ?? false
        case .waveChunks: return isPlaced(try WaveTags.append(metadata, id3: id3(), to: store))
        case .aiffChunk: return isPlaced(try WaveTags.appendToAIFF(id3(), to: store))
        case .apeBehind:
            guard !metadata.isEmpty, let tag = render(TAG_FORM_APE) else { return true }
            try tag.withUnsafeBytes { try store.write($0, at: try store.length) }
            return true
        case .asfHeader:
            guard !metadata.isEmpty else { return true }
            guard let content = TagContent(metadata) else {
                isTooLarge = true
                return true
            }
            return try AdvancedSystemsTags.replace(content, in: store)
        }
    }

    private mutating func isPlaced(_ outcome: WaveTags.Outcome) -> Bool {
        if outcome == .beyond {
            drop(.tagsDropped, "the audio fills the 4 GiB of \(format), so tags do not fit; use rf64")
        }
        return outcome != .misfit
    }

    private mutating func id3() -> [UInt8]? {
        metadata.texts.isEmpty && metadata.pictures.isEmpty && metadata.chapters.isEmpty && metadata.lines.isEmpty
            && metadata.frames.isEmpty ? nil : render(TAG_FORM_ID3)
    }

    private mutating func blocks() -> [(kind: UInt8, bytes: [UInt8])] {
        guard let comment = render(TAG_FORM_VORBIS) else { return [] }
        guard let content = TagContent(metadata) else {
            isTooLarge = true
            return []
        }
        let pictures = content.renderPictures()
        if pictures.count < metadata.pictures.count { isTooLarge = true }
        return [(4, comment)] + pictures.map { (6, $0) }
    }

    private static func size(of blocks: [(kind: UInt8, bytes: [UInt8])]) -> Int {
        blocks.reduce(0) { $0 + $1.bytes.count + 4 }
    }

    /// Renders the metadata in a TagLib form; `nil` if the result is empty. Tags that it cannot store are reported once.
    private mutating func render(_ form: tag_form) -> [UInt8]? {
        let isVorbis = form == TAG_FORM_VORBIS || form == TAG_FORM_VORBIS_WITH_PICTURES
        guard let content = TagContent(isVorbis ? metadata.inComments() : metadata) else {
            isTooLarge = true
            return nil
        }
        let bytes = content.render(form)
        if bytes == nil { isTooLarge = true }
        let dropped = content.dropped()
        if !dropped.isEmpty, !warnings.contains(where: { $0.code == "tags_dropped" }) {
            drop(.tagsDropped, "\(format) does not support these tags: \(Self.listed(dropped))")
        }
        guard let bytes, !bytes.isEmpty else { return nil }
        return isVorbis ? Self.signed(bytes) : bytes
    }

    /// A Vorbis comment with respool as the vendor, which TagLib leaves empty.
    private static func signed(_ comment: [UInt8]) -> [UInt8] {
        let vendor = Array("respool".utf8)
        return littleEndian(UInt64(vendor.count), 4) + vendor + comment.dropFirst(4)
    }
}
