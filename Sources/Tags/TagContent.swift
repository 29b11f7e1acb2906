import Bytes
import CTagLib
import Glibc

/// Parses and renders tags with TagLib; owns a `tag_content`.
struct TagContent: ~Copyable {
    private let pointer: OpaquePointer

    /// Makes an empty content; `nil` if memory is exhausted.
    init?() {
        guard let pointer = tag_content_make() else { return nil }
        self.pointer = pointer
    }

    deinit { tag_content_free(pointer) }

    /// Parses tags from bytes; returns `false` if the bytes are not such tags.
    @discardableResult
    borrowing func parse(_ form: tag_form, _ bytes: [UInt8], charset: String? = nil) -> Bool {
        tag_content_parse(pointer, form, bytes, bytes.count, charset)
    }

    /// Renders the tags in a form; empty if there are none for it, `nil` if memory is exhausted.
    borrowing func render(_ form: tag_form, base: [UInt8] = []) -> [UInt8]? {
        Self.taken(tag_content_render(pointer, form, base, base.count))
    }

    /// Renders each picture as the body of a FLAC picture block.
    borrowing func renderPictures() -> [[UInt8]] {
        (0..<tag_content_picture_count(pointer)).compactMap { Self.taken(tag_content_render_picture(pointer, $0)) }
    }

    /// Names of the texts that the last rendering could not store.
    borrowing func dropped() -> [String] {
        (0..<tag_content_dropped_count(pointer)).map { String(cString: tag_content_dropped(pointer, $0)) }
    }

    /// The genre of a number in an ID3v1 tag; `nil` if there is none.
    static func genre(ofID3v1 number: UInt8) -> String? {
        guard let text = tag_id3v1_genre(number) else { return nil }
        defer { free(text) }
        let name = String(cString: text)
        return name.isEmpty ? nil : name
    }

    private static func taken(_ bytes: tag_bytes) -> [UInt8]? {
        guard let start = bytes.bytes else { return nil }
        defer { tag_bytes_free(bytes) }
        return Array(UnsafeBufferPointer(start: start, count: bytes.count))
    }
}

extension TagContent {
    init?(_ metadata: Metadata) {
        self.init()
        for (name, values) in metadata.texts.sorted(by: { $0.key < $1.key }) {
            for value in values { tag_content_add_text(pointer, name, value) }
        }
        for picture in metadata.pictures {
            picture.bytes.withUnsafeBufferPointer { bytes in
                picture.mediaType.withCString { mediaType in
                    picture.description.withCString { description in
                        tag_content_add_picture(
                            pointer,
                            tag_picture(
                                kind: CInt(picture.kind), mime: mediaType, description: description,
                                bytes: bytes.baseAddress, count: bytes.count))
                    }
                }
            }
        }
        for chapter in metadata.chapters {
            chapter.title.withCString {
                let times = (UInt32(clamping: chapter.start / 1_000_000), UInt32(clamping: chapter.end / 1_000_000))
                let title = $0
                chapter.link.withCString {
                    tag_content_add_chapter(
                        pointer, tag_chapter(start: times.0, end: times.1, title: title, link: $0))
                }
            }
            for frame in chapter.frames { tag_content_add_chapter_frame(pointer, frame, frame.count) }
        }
        for line in metadata.lines {
            let time = UInt32(clamping: line.time / 1_000_000)
            line.text.withCString { tag_content_add_line(pointer, tag_line(time: time, text: $0, lyrics: 0)) }
        }
        for frame in metadata.frames { tag_content_add_frame(pointer, frame, frame.count) }
    }

    /// The parsed tags under neutral names.
    borrowing func metadata() -> Metadata {
        var metadata = Metadata()
        for index in 0..<tag_content_text_count(pointer) {
            let name = TagName.neutral(String(cString: tag_content_text_name(pointer, index)))
            metadata.texts[name, default: []].append(String(cString: tag_content_text_value(pointer, index)))
        }
        metadata.pictures = (0..<tag_content_picture_count(pointer)).map { index in
            let picture = tag_content_picture(pointer, index)
            return Metadata.Picture(
                kind: Int(picture.kind), mediaType: String(cString: picture.mime),
                description: String(cString: picture.description),
                bytes: Array(UnsafeBufferPointer(start: picture.bytes, count: picture.count)))
        }
        metadata.chapters = (0..<tag_content_chapter_count(pointer)).map { index in
            let chapter = tag_content_chapter(pointer, index)
            return Metadata.Chapter(
                start: Int64(chapter.start) * 1_000_000, end: Int64(chapter.end) * 1_000_000,
                title: String(cString: chapter.title), link: String(cString: chapter.link),
                frames: (0..<tag_content_chapter_frame_count(pointer, index)).map {
                    Self.copied(tag_content_chapter_frame(pointer, index, $0))
                })
        }
        readLyrics(into: &metadata)
        metadata.frames = (0..<tag_content_frame_count(pointer)).map { Self.copied(tag_content_frame(pointer, $0)) }
        return metadata
    }

    /// The first synchronized lyrics as lines, and those of other languages as texts.
    private borrowing func readLyrics(into metadata: inout Metadata) {
        var lyrics: [[Metadata.LyricLine]] = []
        for index in 0..<tag_content_line_count(pointer) {
            let line = tag_content_line(pointer, index)
            if line.lyrics == lyrics.count { lyrics.append([]) }
            lyrics[lyrics.count - 1].append(
                Metadata.LyricLine(time: Int64(line.time) * 1_000_000, text: String(cString: line.text)))
        }
        metadata.lines = lyrics.first ?? []
        let others = lyrics.dropFirst().map { LyricText.timed($0) }
        if !others.isEmpty { metadata.texts["SYNCEDLYRICS", default: []] += others }
    }

    private static func copied(_ bytes: tag_bytes) -> [UInt8] {
        Array(UnsafeBufferPointer(start: bytes.bytes, count: bytes.count))
    }
}

/// Decodes tags in character sets that they do not declare correctly.
package enum TagCharsets {
    /// Opens the converters of all names, before the sandbox prevents opening files.
    package static func open(_ names: [String]) {
        for name in names { tag_charset_open(name) }
    }

    /// Decodes bytes whose character set is not declared: as the given one, otherwise UTF-8, otherwise Latin-1.
    static func decode(_ bytes: some Collection<UInt8>, _ name: String?) -> String {
        let bytes = Array(bytes.prefix { $0 != 0 })
        if let name, let text = tag_charset_decode(name, bytes, bytes.count) {
            defer { free(text) }
            return String(cString: text)
        }
        return String(validating: bytes, as: UTF8.self)
            ?? String(String.UnicodeScalarView(bytes.map(Unicode.Scalar.init)))
    }
}
