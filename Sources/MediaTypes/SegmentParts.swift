/// The files of one variant of a stream, beside the master playlist.
///
/// Their names hold the job's token: a player that still has the last playlist finds its own segments.
package struct SegmentParts: Sendable {
    /// What tells the variant from others; empty where it is the only one.
    private let mark: String
    /// How many digits the number of a segment has at least.
    private static let digits = 5

    /// The names for a bit rate, or for the only variant.
    package init(bitRate: Int? = nil) {
        mark = bitRate.map { $0 % 1000 == 0 ? "-\($0 / 1000)k" : "-\($0)" } ?? ""
    }

    package var playlist: String { "-{token}\(mark).m3u8" }
    package var setup: String { "-{token}\(mark)-init.mp4" }

    package func segment(_ index: Int, _ container: SegmentSettings.Container) -> String {
        let digits = String(index + 1)
        let number = String(repeating: "0", count: max(Self.digits - digits.count, 0)) + digits
        return beforeNumber + number + container.segmentExtension
    }

    /// All of them.
    func patterns(_ container: SegmentSettings.Container) -> [PartPattern] {
        let segments = PartPattern.numbered(
            before: beforeNumber, digits: Self.digits, after: container.segmentExtension)
        return [.single(playlist), segments] + (container == .fmp4 ? [.single(setup)] : [])
    }

    private var beforeNumber: String { "-{token}\(mark)-" }
}

extension SegmentSettings.Container {
    fileprivate var segmentExtension: String { self == .fmp4 ? ".m4s" : ".ts" }
}
