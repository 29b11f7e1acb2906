/// Extra samples that a decoder returns at the start and the end of an output.
package struct Gapless: Codable, Hashable, Sendable {
    /// Samples of each channel before the first true one; zero if the file declares them, so that decoders skip them.
    package var start: Int
    /// Samples of each channel after the last true one; zero if the file declares them, so that decoders skip them.
    package var end: Int

    package init(start: Int, end: Int) {
        self.start = start
        self.end = end
    }
}
