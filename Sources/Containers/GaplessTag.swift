package import MediaTypes

/// Apple's tag `iTunSMPB`: the encoder delay, the padding and the length of the audio between them.
package struct GaplessTag {
    private let counts: (delay: Int64, padding: Int64, length: Int64)

    /// Reads hexadecimal numbers, of which the first is unused; `nil` without a plausible length.
    package init?(_ text: String) {
        let numbers = text.split(separator: " ").prefix(4).map { Int64($0, radix: 16) }
        guard numbers.count == 4, let delay = numbers[1], let padding = numbers[2], let length = numbers[3],
            (0...Self.longest).contains(delay), (0...Self.longest).contains(padding),
            (1...Int64(1) << 40).contains(length)
        else { return nil }
        counts = (delay, padding, length)
    }

    /// More than any encoder's delay or padding in samples.
    private static let longest: Int64 = 16_384

    /// The delay and the length of audio whose media has a length and a timescale.
    ///
    /// The numbers count units of the media. For SBR they may count samples of the core, half as many as the decoder returns:
    /// the length of the media decides. A cut file may have kept the tag of the whole, which is longer than the media.
    package func times(media: MediaTime, scale: Int64, rate: Int) -> (delay: MediaTime, length: MediaTime)? {
        let total = counts.delay + counts.padding + counts.length
        func isWhole(_ unit: Int64) -> Bool {
            abs(Double(total) / Double(unit) - media.seconds) < Self.tolerance
        }
        let unit = [scale, Int64(rate), Int64(rate) / 2].first { $0 > 0 && isWhole($0) } ?? scale
        let length = MediaTime(value: counts.length, timescale: unit)
        guard unit > 0, length.seconds <= media.seconds + 1 else { return nil }
        return (MediaTime(value: counts.delay, timescale: unit), length)
    }

    /// Seconds by which the counts of a whole file and its media may differ: some packets.
    private static let tolerance = 0.25
}
