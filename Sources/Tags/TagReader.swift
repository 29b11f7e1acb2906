package import Bytes
import CLibav
import CTagLib
import Containers
package import Demuxing
package import Libav
package import MediaTypes

/// Reads a source's metadata: with TagLib in the forms that it supports, otherwise with libav.
package enum TagReader {
    /// Reads all metadata of an open source. Damaged tags are skipped, because they are no reason to fail a conversion.
    package static func read(
        _ source: any ByteSource, _ demuxer: borrowing Demuxer, _ track: AudioTrack, charset: String?,
        limits: SourceLimits
    ) throws(MediaError) -> Metadata {
        var metadata: Metadata
        do {
            metadata =
                source.isEndless
                ? Metadata() : try byForm(source, demuxer.descriptor, charset, maxBytes: limits.tagBytes)
        } catch let error as MediaError { throw error } catch { throw .unreadable(error, "read the tags") }
        let seen: Metadata
        do { seen = try LibavTags.of(demuxer, track) } catch { throw .unreadable(error, "read the tags") }
        let hasMoreTags = metadata.texts.isEmpty && demuxer.hasMoreTags
        if metadata.texts.isEmpty { metadata.texts = seen.texts }
        if metadata.keepTexts(atMost: Metadata.maxTags) || hasMoreTags { metadata.warn(tooMany) }
        if metadata.pictures.isEmpty { metadata.pictures = seen.pictures }
        if demuxer.attachmentBytes > 0 { metadata.warn(attachmentsDropped(demuxer.attachmentBytes)) }
        if case .movieBoxes = demuxer.descriptor.tags {
            metadata.chapters = MovieChapters.joined(metadata.chapters, seen.chapters)
        } else if !seen.chapters.isEmpty {
            metadata.chapters = seen.chapters(completedBy: metadata.chapters)
        }
        if metadata.chapters.isEmpty { metadata.nameCues(rate: track.rate, charset) }
        if demuxer.hasMoreChapters { metadata.leaveOutChapters() }
        metadata.keepChapters(atMost: limits.chapters)
        // Programs write chapters and pictures in the order of creation. Cutting requires chapters by time, and players show
        // the first picture.
        metadata.chapters.sort { $0.start < $1.start }
        let fronts = metadata.pictures.filter { $0.kind == Metadata.Picture.frontCover }
        metadata.pictures = fronts + metadata.pictures.filter { $0.kind != Metadata.Picture.frontCover }
        for index in metadata.pictures.indices { metadata.pictures[index].nameMediaType() }
        metadata.texts = metadata.texts.filter { !TagName.isAboutTheFile($0.key) }
        metadata.joinTotals()
        metadata.liftLyrics()
        metadata.refusePictures(over: limits.pictureBytes)
        return metadata
    }

    static func tooLarge(_ size: Int64, _ most: Int) -> Warning {
        Warning(
            .tagsDropped,
            "the source's tags have \(size) bytes, over the limit of \(most), and were left out; see RESPOOL_MAX_TAG_BYTES"
        )
    }

    /// A tag beyond the maximum is enough for the warning, so one more is parsed.
    private static let tooMany = Warning(
        .tagsDropped, "the source has more than \(Metadata.maxTags) tags, and the others were left out")

    private static func byForm(
        _ source: any ByteSource, _ descriptor: ContainerDescriptor, _ charset: String?, maxBytes most: Int
    ) throws -> Metadata {
        switch descriptor.tags {
        case .libav, .attachments: Metadata()
        // The limit is higher for forms that contain pictures, possibly in base64.
        case .flacBlocks: try flac(source, 4 * most)
        case .oggComment: try ogg(source, 2 * most)
        case .movieBoxes: try movie(source, 2 * most)
        case .chunks:
            try WaveTags.read(
                UnknownSize.resolved(source, descriptor) ?? source, charset: charset, maxBytes: most)
        case .asfHeader: try asf(source, most)
        case .ends: try ends(source, charset, most)
        }
    }

    /// Parses tags from bytes.
    static func parsed(_ form: tag_form, _ bytes: [UInt8], charset: String? = nil) throws(MediaError) -> Metadata {
        let content = try emptyContent()
        let isCut: Bool
        switch form {
        case TAG_FORM_ID3:
            let tag = ID3Frames.normalized(bytes)
            content.parse(form, tag.bytes, charset: charset)
            isCut = tag.isCut
        case TAG_FORM_MPEG4:
            content.parse(form, MovieIntegers.normalized(bytes), charset: charset)
            isCut = false
        default:
            let tag = counted(form, bytes)
            content.parse(form, tag.bytes, charset: charset)
            isCut = tag.isCut
        }
        var metadata = content.metadata()
        if isCut { metadata.warn(tooMany) }
        return metadata
    }

    /// Lowers the number of tags that a Vorbis comment or an APE tag declares. Their parsers read as many.
    private static func counted(_ form: tag_form, _ bytes: [UInt8]) -> (bytes: [UInt8], isCut: Bool) {
        func number(_ place: Int) -> Int? {
            guard place >= 0, place + 4 <= bytes.count else { return nil }
            return bytes[place..<place + 4].reversed().reduce(0) { $0 << 8 | Int($1) }
        }
        let place =
            switch form {
            // Behind the vendor (Vorbis I, section 5.2.1).
            case TAG_FORM_VORBIS: number(0).map { 4 + $0 }
            // In the footer (APE Tags Header).
            case TAG_FORM_APE: bytes.count - 16
            default: Int?.none
            }
        guard let place, let count = number(place), count > Metadata.maxTags + 1 else { return (bytes, false) }
        var bytes = bytes
        bytes.replaceSubrange(place..<place + 4, with: littleEndian(UInt64(Metadata.maxTags + 1), 4))
        return (bytes, true)
    }

    private static func emptyContent() throws(MediaError) -> TagContent {
        guard let content = TagContent() else { throw .outOfMemory("read the tags") }
        return content
    }

    /// ID3v2 and APEv2 at the start, APEv2 and ID3v1 at the end.
    private static func ends(_ source: any ByteSource, _ charset: String?, _ most: Int) throws -> Metadata {
        var metadata = Metadata()
        let size = try TagBytes.id3Size(source, at: 0)
        if size > most {
            metadata.warnings.append(tooLarge(size, most))
        } else if size > 0, let bytes = try SourceBytes(source).read(at: 0, Int(min(size, source.length))) {
            metadata = try parsed(TAG_FORM_ID3, bytes, charset: charset)
        }
        try fillApe(&metadata, source, TagBytes.leadingApe(source, at: TagBytes.leading(source).end), most)
        // The end of a source that is still being downloaded may be far away. The tags at the start suffice then.
        guard metadata.texts.isEmpty || source.isAllPresent else { return metadata }
        try fillApe(&metadata, source, TagBytes.ape(source), most)
        let older = try TagBytes.id3v1(source, charset: charset)
        // A comment with a description is usually the same one, which ID3v1 cuts.
        let described = Set(metadata.texts.keys.compactMap { $0.split(separator: ":").first.map(String.init) })
        metadata.texts.merge(older.filter { !described.contains($0.key) }) { own, _ in own }
        return metadata
    }

    private static func fillApe(
        _ metadata: inout Metadata, _ source: any ByteSource, _ place: Range<Int64>?, _ most: Int
    ) throws {
        guard let place else { return }
        if place.count > most {
            metadata.warnings.append(tooLarge(Int64(place.count), most))
        } else if let bytes = try SourceBytes(source).read(at: place.lowerBound, place.count) {
            let tag = try parsed(TAG_FORM_APE, bytes)
            metadata.fill(from: tag)
            for warning in tag.warnings { metadata.warn(warning) }
        }
    }

    private static func flac(_ source: any ByteSource, _ most: Int) throws -> Metadata {
        guard let file = try FlacBlocks(source) else { return Metadata() }
        let content = try emptyContent()
        let blocks = file.blocks.filter { [4, 6].contains($0.kind) }
        var (left, isDropped, isCut) = (most, false, false)
        for block in blocks {
            guard block.size <= left else {
                isDropped = true
                continue
            }
            guard let bytes = try file.body(block) else { continue }
            left -= block.size
            if block.kind == 4 {
                let comment = counted(TAG_FORM_VORBIS, bytes)
                content.parse(TAG_FORM_VORBIS, comment.bytes)
                isCut = isCut || comment.isCut
            } else {
                content.parse(TAG_FORM_FLAC_PICTURE, bytes)
            }
        }
        var metadata = content.metadata()
        if isCut { metadata.warn(tooMany) }
        if isDropped { metadata.warnings.append(tooLarge(blocks.reduce(0) { $0 + Int64($1.size) }, most)) }
        return metadata
    }

    private static func attachmentsDropped(_ size: Int64) -> Warning {
        Warning(
            .tagsDropped,
            "the source's attachments have \(size) bytes, over the limit of \(Metadata.maxCopiedBytes), and were left out"
        )
    }

    private static func ogg(_ source: any ByteSource, _ most: Int) throws -> Metadata {
        guard let comment = try OggComment(source, maxBytes: most) else { return Metadata() }
        guard comment.size <= most else {
            var metadata = Metadata()
            metadata.warnings.append(tooLarge(Int64(comment.size), most))
            return metadata
        }
        return try comment.body().map { try parsed(TAG_FORM_VORBIS, $0) } ?? Metadata()
    }

    private static func movie(_ source: any ByteSource, _ most: Int) throws -> Metadata {
        guard let file = try MovieTags(source) else { return Metadata() }
        guard file.size <= most else {
            var metadata = Metadata()
            metadata.warnings.append(tooLarge(file.size, most))
            return metadata
        }
        guard let body = try file.body() else { return Metadata() }
        var metadata = try parsed(TAG_FORM_MPEG4, body)
        metadata.chapters = MovieChapters.listed(body)
        return metadata
    }

    private static func asf(_ source: any ByteSource, _ most: Int) throws -> Metadata {
        guard let size = try SourceBytes(source).little(at: 16, 8), (30...Int64(max(30, most))).contains(size),
            let bytes = try SourceBytes(source).read(at: 0, Int(size))
        else { return Metadata() }
        return try parsed(TAG_FORM_ASF, bytes)
    }
}

extension Metadata {
    /// The chapters, with what those of `others` with the same start have beside their titles. Titles are empty where theirs are,
    /// because libav uses ID3's chapter IDs as titles.
    fileprivate func chapters(completedBy others: [Chapter]) -> [Chapter] {
        let untitled = Set(others.lazy.filter(\.title.isEmpty).map(\.start))
        let known = Dictionary(others.map { ($0.start, $0) }) { first, _ in first }
        return chapters.map { chapter in
            var chapter = chapter
            if untitled.contains(chapter.start) { chapter.title = "" }
            if let other = known[chapter.start], chapter.link.isEmpty { chapter.link = other.link }
            chapter.frames = known[chapter.start]?.frames ?? []
            return chapter
        }
    }

    /// Adds cue points as chapters, each until the next one. It is called if there are no chapters.
    fileprivate mutating func nameCues(rate: Int, _ charset: String?) {
        guard rate > 0 else { return }
        let starts = wave.cues.map { Int64(clamping: Int128($0.position) * 1_000_000_000 / Int128(rate)) }
        for (index, cue) in wave.cues.enumerated() {
            let length = cue.length.map { Int64(clamping: Int128($0) * 1_000_000_000 / Int128(rate)) } ?? 0
            let end = length > 0 ? starts[index] + length : index + 1 < starts.count ? starts[index + 1] : Int64.max
            chapters.append(Chapter(start: starts[index], end: end, title: cue.label(charset)))
        }
    }

    /// Joins a number and its total as `3/12`, as all formats except Vorbis store them.
    fileprivate mutating func joinTotals() {
        for (name, total) in [("TRACKNUMBER", "TRACKTOTAL"), ("DISCNUMBER", "DISCTOTAL")] {
            guard let of = texts[total]?.first, let number = texts[name]?.first else { continue }
            if !number.contains("/") { texts[name] = ["\(number)/\(of)"] }
            texts[total] = nil
        }
    }

    /// Keeps the first values by name; returns whether there are more.
    fileprivate mutating func keepTexts(atMost most: Int) -> Bool {
        guard texts.reduce(0, { $0 + $1.value.count }) > most else { return false }
        var left = most
        for (name, values) in texts.sorted(by: { $0.key < $1.key }) {
            texts[name] = left > 0 ? Array(values.prefix(left)) : nil
            left -= min(left, values.count)
        }
        return true
    }

    fileprivate mutating func leaveOutChapters() {
        warn(Warning(.chaptersDropped, "the source has more chapters than can be read, and they were left out"))
        chapters = []
    }

    /// Adds a warning once.
    fileprivate mutating func warn(_ warning: Warning) {
        if !warnings.contains(warning) { warnings.append(warning) }
    }

    fileprivate mutating func keepChapters(atMost most: Int) {
        guard chapters.count > most else { return }
        warnings.append(
            Warning(
                .chaptersDropped,
                "the source has \(chapters.count) chapters, over the limit of \(most), and they were left out; see "
                    + "RESPOOL_MAX_CHAPTERS"))
        chapters = []
    }

    fileprivate mutating func refusePictures(over most: Int) {
        let sizes = pictures.map(\.bytes.count) + chapters.flatMap { $0.frames.map(\.count) }
        for size in sizes where size > most {
            warnings.append(
                Warning(
                    .picturesDropped,
                    "a picture has \(size) bytes, over the limit of \(most), and was left out; see RESPOOL_MAX_PICTURE_BYTES"
                ))
        }
        pictures.removeAll { $0.bytes.isEmpty || $0.bytes.count > most }
        for index in chapters.indices { chapters[index].frames.removeAll { $0.count > most } }
    }
}
