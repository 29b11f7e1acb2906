import Bytes
import Decoding
import Encoding
import Libav
import MediaTypes

/// Collects the titles of a radio stream with their start times in the output.
struct TitleTimes {
    private let source: any ByteSource
    private var pending: [StreamTitle] = []
    private(set) var titles: [TimedTitle] = []
    /// Titles that were omitted because the report was full.
    private(set) var leftOut = 0
    private var bytes = 0

    /// The maximum size of the titles in a report, which must fit in one packet of 128 KiB.
    private static let maxBytes = 80_000

    init(_ source: any ByteSource) { self.source = source }

    /// Takes the titles that precede the packet of the current samples.
    mutating func note(_ reader: borrowing AssetReader, samples: Int) {
        guard source.isEndless else { return }
        pending += source.takeTitles()
        while let next = pending.first, reader.packetOffset >= next.offset {
            pending.removeFirst()
            let sample = max(reader.position - Int64(samples) - reader.first, 0)
            add(next.title, at: Double(sample) / Double(reader.shape.rate))
        }
    }

    /// Adds a title that starts at `time` seconds, if the report has room.
    mutating func add(_ title: String, at time: Double) {
        // A character may take two bytes in JSON. 50 bytes cover the time and the field names.
        bytes += 2 * title.utf8.count + 50
        guard bytes <= Self.maxBytes else {
            leftOut += 1
            return
        }
        titles.append(TimedTitle(time: time, title: title))
    }
}

extension ConversionResult {
    /// The same result with the titles of a radio stream, at their times in an output of that tempo.
    func with(_ times: TitleTimes, tempo: Tempo?) -> ConversionResult {
        var result = self
        result.titles = times.titles
        if let tempo {
            for index in result.titles.indices { result.titles[index].time *= tempo.stretch }
        }
        if times.leftOut > 0 {
            result.warnings.append(
                Warning(
                    .titlesLeftOut,
                    "the last \(times.leftOut) titles of the station are left out: the report is full"))
        }
        return result
    }
}
