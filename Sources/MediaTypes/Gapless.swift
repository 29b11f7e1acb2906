/// Extra samples that a decoder returns at the start and the end of an output.
package struct Gapless: Codable, Hashable, Sendable {
    package var start: Int
    package var end: Int

    package init(start: Int, end: Int) {
        self.start = start
        self.end = end
    }
}
