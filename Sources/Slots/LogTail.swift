import Text

/// The last lines that libav logged for a job, with limits on their number and size.
struct LogTail {
    private(set) var all: [String] = []
    private static let maxLines = 50
    private static let maxLineBytes = 300

    mutating func append(_ line: String) {
        if all.count == Self.maxLines { all.removeFirst() }
        all.append(line.bounded(utf8Bytes: Self.maxLineBytes))
    }
}
