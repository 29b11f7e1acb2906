/// The names of the files of one variant beside the master playlist.
///
/// They contain the job's token, so that a player with an older playlist still finds the segments of that playlist.
package struct SegmentParts: Sendable {
    /// The suffix that identifies the variant; empty for the only variant.
    private let mark: String
    /// The minimum number of digits of a segment's number.
    private static let digits = 5

    /// Makes the names for a bit rate, or for the only variant.
    package init(bitRate: Int? = nil) {
        mark = bitRate.map { $0 % 1000 == 0 ? "-\($0 / 1000)k" : "-\($0)" } ?? ""
    }

    /// The name of the media playlist.
    package var playlist: String { "-{token}\(mark).m3u8" }
    /// The name of the initialization section.
    package var setup: String { "-{token}\(mark)-init.mp4" }

    /// The name of the segment at an index from 0.
    package func segment(_ index: Int, _ container: SegmentSettings.Container) -> String {
        let digits = String(index + 1)
        let number = String(repeating: "0", count: max(Self.digits - digits.count, 0)) + digits
        return beforeNumber + number + container.segmentExtension
    }

    /// The patterns of all files.
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
