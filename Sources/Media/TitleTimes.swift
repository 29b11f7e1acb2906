import MediaTypes

/// When in a result the titles of a radio stream begin.
struct TitleTimes {
    private let source: any ByteSource
    private var pending: [StreamTitle] = []
    private(set) var titles: [TimedTitle] = []

    init(_ source: any ByteSource) { self.source = source }

    /// Takes in the titles that lie before the packet that the samples just given came from.
    mutating func note(_ reader: borrowing AssetReader, samples: Int) {
        guard source.isEndless else { return }
        pending += source.takeTitles()
        while let next = pending.first, reader.packetOffset >= next.offset {
            pending.removeFirst()
            let sample = max(reader.position - Int64(samples) - reader.first, 0)
            titles.append(TimedTitle(time: Double(sample) / Double(reader.shape.rate), title: next.title))
        }
    }
}

extension ConversionResult {
    func with(titles: [TimedTitle]) -> ConversionResult {
        var result = self
        result.titles = titles
        return result
    }
}
