import FoundationEssentials
import Glibc

/// The file with what a program of `respool up` prints. One older file is kept.
struct ProgramLog: Sendable {
    let path: String

    private static let maxBytes: Int64 = 10 << 20

    /// The last lines in one.
    func tail(_ count: Int = 3) -> String {
        let bytes = (try? Data(contentsOf: URL(filePath: path))) ?? Data()
        let lines = String(decoding: bytes.suffix(4096), as: UTF8.self).split(separator: "\n").suffix(count)
        return lines.isEmpty ? "it printed nothing" : lines.joined(separator: " / ")
    }

    /// Empties a large file, after it was copied. The program appends to it, so it may stay open.
    func rotate() {
        var status = stat()
        guard stat(path, &status) == 0, Int64(status.st_size) > Self.maxBytes else { return }
        try? FileManager.default.removeItem(atPath: path + ".1")
        guard (try? FileManager.default.copyItem(atPath: path, toPath: path + ".1")) != nil else { return }
        truncate(path, 0)
    }
}
