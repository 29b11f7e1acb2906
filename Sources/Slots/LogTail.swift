/// The last lines that libav logged for a job, bounded in count and bytes.
struct LogTail {
    private(set) var all: [String] = []
    private static let mostLines = 50

    mutating func append(_ line: String) {
        if all.count == Self.mostLines { all.removeFirst() }
        all.append(String(line.prefix(300)))
    }
}
