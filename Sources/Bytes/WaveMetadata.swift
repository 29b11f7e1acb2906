import MediaTypes

/// Metadata that only RIFF files have: the broadcast extension, cue points, and chunks that are copied unchanged.
package struct WaveMetadata: Hashable, Sendable {
    /// The `bext` chunk.
    package var broadcast: BroadcastExtension?
    /// Cue points by position.
    package var cues: [CuePoint] = []
    /// `iXML`, `axml` and `_PMX`, which contain no positions.
    package var chunks: [Chunk] = []

    package init() {}

    /// A RIFF chunk.
    package struct Chunk: Hashable, Sendable {
        /// The chunk's identifier of four characters.
        package var name: String
        /// The body, without the header and the byte that pads an odd length.
        package var bytes: [UInt8]

        package init(name: String, bytes: [UInt8]) {
            self.name = name
            self.bytes = bytes
        }
    }

    /// Names of the chunks that are copied unchanged.
    package static let keptChunks: Set = ["iXML", "axml", "_PMX"]

    var isEmpty: Bool { broadcast == nil && cues.isEmpty && chunks.isEmpty }

    /// Keeps what belongs to a range, and makes positions relative to its first sample.
    mutating func cut(first: Int64, end: Int64?) {
        if let reference = broadcast?.timeReference {
            broadcast!.timeReference = Int64(clamping: Int128(reference) + Int128(first))
        }
        cues = cues.compactMap { cue in
            guard cue.position >= first, end.map({ cue.position < $0 }) ?? true else { return nil }
            return cue.moved(by: -first, end: end.map { $0 - first })
        }
    }

    /// Converts positions to samples of another rate.
    package mutating func rescale(from rate: Int, to other: Int) {
        guard rate != other, rate > 0 else { return }
        func scaled(_ sample: Int64) -> Int64 {
            Int64(clamping: (Int128(sample) * Int128(other) + Int128(rate / 2)) / Int128(rate))
        }
        if let reference = broadcast?.timeReference { broadcast!.timeReference = scaled(reference) }
        for index in cues.indices { cues[index].scale(scaled) }
    }

    /// Moves the cue points to their times at another tempo. The time of day at which the audio begins stays.
    mutating func move(to tempo: Tempo) {
        for index in cues.indices { cues[index].scale(tempo.moved) }
    }

    mutating func forgetLevel() { broadcast?.forgetLevel() }
}

/// The `bext` chunk (EBU Tech 3285). Bytes that a conversion does not change are kept.
package struct BroadcastExtension: Hashable, Sendable {
    /// The body of the chunk, with the time reference and the loudness that respool has adjusted.
    package private(set) var bytes: [UInt8]

    /// Size of the fields before the coding history.
    package static let fixedSize = 602

    /// Makes an extension of a chunk's body; `nil` if it is too short.
    package init?(_ bytes: [UInt8]) {
        guard bytes.count >= Self.fixedSize else { return nil }
        self.bytes = bytes
    }

    /// Samples from midnight to the file's first sample.
    var timeReference: Int64 {
        get { Int64(clamping: bytes[338..<346].reversed().reduce(UInt64(0)) { $0 << 8 | UInt64($1) }) }
        set { bytes.replaceSubrange(338..<346, with: littleEndian(UInt64(max(newValue, 0)), 8)) }
    }

    /// From version 2, 0x7FFF means that a loudness value was not measured.
    mutating func forgetLevel() {
        guard bytes[346] >= 2 else { return }
        bytes.replaceSubrange(412..<422, with: [0xFF, 0x7F, 0xFF, 0x7F, 0xFF, 0x7F, 0xFF, 0x7F, 0xFF, 0x7F])
    }
}

/// A cue point of a RIFF file with its notes.
package struct CuePoint: Hashable, Sendable {
    /// The identifier to which notes refer.
    package let number: UInt32
    /// Samples.
    package private(set) var position: Int64
    /// Its entries of the `adtl` list.
    package private(set) var notes: [Note]

    /// An entry of the `adtl` list.
    package struct Note: Hashable, Sendable {
        /// `labl`, `note` or `ltxt`.
        package var kind: String
        /// The bytes after the cue point's number.
        package var bytes: [UInt8]

        package init(kind: String, bytes: [UInt8]) {
            self.kind = kind
            self.bytes = bytes
        }
    }

    package init(number: UInt32, position: Int64, notes: [Note] = []) {
        self.number = number
        self.position = position
        self.notes = notes
    }

    init(number: UInt32, position: Int64, label: String) {
        self.init(number: number, position: position, notes: [Note(kind: "labl", bytes: Array(label.utf8) + [0])])
    }

    /// The length in samples of the region that starts here; `nil` if none does.
    package var length: Int64? {
        guard let region = notes.first(where: { $0.kind == "ltxt" }), region.bytes.count >= 4 else { return nil }
        return Int64(region.bytes.prefix(4).reversed().reduce(UInt32(0)) { $0 << 8 | UInt32($1) })
    }

    func moved(by offset: Int64, end: Int64?) -> CuePoint {
        var cue = self
        cue.position += offset
        if let length, let end { cue.setLength(min(length, end - cue.position)) }
        return cue
    }

    mutating func scale(_ scaled: (Int64) -> Int64) {
        if let length { setLength(scaled(length)) }
        position = scaled(position)
    }

    private mutating func setLength(_ length: Int64) {
        for index in notes.indices where notes[index].kind == "ltxt" && notes[index].bytes.count >= 4 {
            notes[index].bytes.replaceSubrange(0..<4, with: littleEndian(UInt64(UInt32(clamping: length)), 4))
        }
    }
}
