package import MediaTypes

/// The tags, pictures and chapters of a source, independent of its container.
package struct Metadata: Sendable {
    /// Values by neutral name (see `TagName`), each in their order.
    package var texts: [String: [String]] = [:]
    /// Pictures, front covers first.
    package var pictures: [Picture] = []
    /// Chapters by start time.
    package var chapters: [Chapter] = []
    /// Synchronized lyrics.
    package var lines: [LyricLine] = []
    /// Whole ID3v2.4 frames that have no meaning outside ID3.
    package var frames: [[UInt8]] = []
    /// Metadata of RIFF files.
    package var wave = WaveMetadata()
    /// Warnings about data that was too large or malformed.
    package var warnings: [Warning] = []

    package init(
        texts: [String: [String]] = [:], pictures: [Picture] = [], chapters: [Chapter] = [], lines: [LyricLine] = [],
        frames: [[UInt8]] = [], wave: WaveMetadata = WaveMetadata(), warnings: [Warning] = []
    ) {
        self.texts = texts
        self.pictures = pictures
        self.chapters = chapters
        self.lines = lines
        self.frames = frames
        self.wave = wave
        self.warnings = warnings
    }

    /// A picture with its original bytes.
    package struct Picture: Hashable, Sendable {
        /// The ID3 type of a front cover.
        package static let frontCover = 3
        /// The ID3 picture type, such as 3 for the front cover.
        package var kind: Int
        /// The MIME type, such as `image/jpeg`.
        package var mediaType: String
        /// The text that a tag stores with the picture; often empty.
        package var description: String
        /// The whole image file, as the tag contains it.
        package var bytes: [UInt8]

        package init(kind: Int, mediaType: String, description: String, bytes: [UInt8]) {
            self.kind = kind
            self.mediaType = mediaType
            self.description = description
            self.bytes = bytes
        }

        /// Detects the media type from the bytes if possible, because programs write `image/jpg`, `JPG` or nothing.
        package mutating func nameMediaType() {
            let known: [(start: [UInt8], mediaType: String)] = [
                ([0xFF, 0xD8, 0xFF], "image/jpeg"), ([0x89, 0x50, 0x4E, 0x47], "image/png"),
                (Array("GIF8".utf8), "image/gif"), (Array("BM".utf8), "image/bmp"),
            ]
            if let found = known.first(where: { bytes.starts(with: $0.start) }) {
                mediaType = found.mediaType
            } else if bytes.starts(with: "RIFF".utf8), bytes.dropFirst(8).starts(with: "WEBP".utf8) {
                mediaType = "image/webp"
            }
        }
    }

    /// A chapter. Times count from the start of the audio.
    package struct Chapter: Hashable, Sendable {
        /// Nanoseconds.
        package var start: Int64
        /// Nanoseconds.
        package var end: Int64
        /// Empty if the source does not name the chapter.
        package var title: String
        /// The address of a page about it; empty if there is none.
        package var link: String
        /// Whole ID3v2.4 frames of the chapter, such as its picture, except for the title and the link.
        package var frames: [[UInt8]]

        package init(start: Int64, end: Int64, title: String, link: String = "", frames: [[UInt8]] = []) {
            self.start = start
            self.end = end
            self.title = title
            self.link = link
            self.frames = frames
        }
    }

    /// A line of lyrics.
    package struct LyricLine: Hashable, Sendable {
        /// Nanoseconds.
        package var time: Int64
        /// The words from this time until the next line.
        package var text: String

        package init(time: Int64, text: String) {
            self.time = time
            self.text = text
        }
    }

    /// The maximum size of tags if no setting specifies one, and of inflated tags in libav.
    package static let maxBytes = 16 << 20

    /// The maximum number of tags of a source, far more than programs write. libav takes quadratic time for more.
    package static let maxTags = 8192
    /// The maximum number of bytes that libav copies for tags of a source.
    package static let maxCopiedBytes = 64 << 20

    /// Whether there is nothing to write into a file; warnings do not count.
    package var isEmpty: Bool {
        texts.isEmpty && pictures.isEmpty && chapters.isEmpty && lines.isEmpty && frames.isEmpty && wave.isEmpty
    }
}

extension Metadata {
    /// The texts by the names in a job.
    package var shownTexts: [String: [String]] {
        Dictionary(texts.map { (TagName.shown($0.key), $0.value) }) { first, second in first + second }
    }

    /// Adds the texts of another whose names are missing, and its pictures, chapters, lyrics and frames if there are none of
    /// each.
    package mutating func fill(from other: Metadata) {
        texts.merge(other.texts) { own, _ in own }
        if pictures.isEmpty { pictures = other.pictures }
        if chapters.isEmpty { chapters = other.chapters }
        if lines.isEmpty { lines = other.lines }
        if frames.isEmpty { frames = other.frames }
    }

    /// Sets and removes the tags that a job specifies.
    package mutating func set(_ settings: TagSettings) {
        for (name, values) in settings.metadata {
            let values = values.filter { !$0.isEmpty }
            texts[TagName.neutral(name)] = values.isEmpty ? nil : values
        }
    }

    /// Keeps what belongs to a range of the audio, and makes times relative to its start. `end` is `nil` for the source's end.
    package mutating func cut(first: Int64, end: Int64?, rate: Int) {
        guard first > 0 || end != nil else { return }
        let start = Self.nanoseconds(first, rate)
        let stop = end.map { Self.nanoseconds($0, rate) } ?? .max
        chapters = chapters.compactMap { chapter in
            let (from, to) = (max(chapter.start, start), min(chapter.end, stop))
            guard from < to || (from == to && chapter.start >= start && from < stop) else { return nil }
            var chapter = chapter
            (chapter.start, chapter.end) = (from - start, to - start)
            return chapter
        }
        changeLyrics { lines in
            // The lyric line that is active at the start is kept.
            let sung = lines.last { $0.time <= start }.flatMap { $0.text.isEmpty ? nil : $0 }
            return ((sung.map { [$0] } ?? []) + lines.filter { $0.time > start && $0.time < stop }).map {
                LyricLine(time: max($0.time - start, 0), text: $0.text)
            }
        }
        wave.cut(first: first, end: end)
        // These tags describe the whole source.
        for name in ["CUESHEET", "LENGTH", "TLEN"] { texts[name] = nil }
    }

    /// Moves everything to its time at another tempo.
    package mutating func move(to tempo: Tempo) {
        for index in chapters.indices {
            chapters[index].start = tempo.moved(chapters[index].start)
            chapters[index].end = tempo.moved(chapters[index].end)
        }
        changeLyrics { $0.map { LyricLine(time: tempo.moved($0.time), text: $0.text) } }
        wave.move(to: tempo)
        // These tags describe the source's times.
        for name in ["CUESHEET", "LENGTH", "TLEN", "BPM"] { texts[name] = nil }
    }

    /// Ends the last chapters at the end of the audio, or at their start if the end is not known.
    package mutating func endChapters(at sample: Int64?, rate: Int) {
        let end = sample.map { Self.nanoseconds($0, rate) }
        if let end { chapters.removeAll { $0.start >= end } }
        for index in chapters.indices {
            let last = end ?? (chapters[index].end == .max ? chapters[index].start : .max)
            chapters[index].end = min(chapters[index].end, last)
        }
    }

    /// Removes tags about the source's loudness.
    package mutating func forgetLevel() {
        for name in texts.keys where TagName.isAboutLevel(name) { texts[name] = nil }
        frames.removeAll { $0.starts(with: Array("RVA2".utf8)) }
        wave.forgetLevel()
    }

    private static func nanoseconds(_ sample: Int64, _ rate: Int) -> Int64 {
        Int64(clamping: Int128(sample) * 1_000_000_000 / Int128(max(rate, 1)))
    }
}
