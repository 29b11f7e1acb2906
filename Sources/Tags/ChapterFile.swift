package import Bytes
import FoundationEssentials
package import MediaTypes

/// Writes chapters to a separate file beside the audio.
package enum ChapterFile {
    /// Writes the chapter file of an output, if the job requests one and there are chapters.
    package static func write(
        _ metadata: Metadata, _ settings: TagSettings, _ stores: any OutputStores, output index: Int
    ) throws(MediaError) {
        guard let form = settings.chapters, !metadata.chapters.isEmpty else { return }
        let bytes = try bytes(metadata.chapters, form)
        do {
            let store = try stores.open(output: index, part: form.partName)
            try bytes.withUnsafeBytes { try store.write($0, at: 0) }
            try stores.finish(output: index, part: form.partName)
        } catch {
            throw MediaError(.store(error), "write the chapters", "the chapters could not be written: \(error)")
        }
    }

    /// The file's bytes.
    static func bytes(_ chapters: [Metadata.Chapter], _ form: TagSettings.ChapterForm) throws(MediaError) -> [UInt8] {
        switch form {
        case .webvtt: return Array(webvtt(chapters).utf8)
        case .json:
            do {
                let encoder = JSONEncoder()
                encoder.outputFormatting = [.sortedKeys, .prettyPrinted, .withoutEscapingSlashes]
                return Array(try encoder.encode(Podcasting(chapters))) + [0x0A]
            } catch { throw MediaError(.internal, "write the chapters", "the chapters could not be encoded: \(error)") }
        }
    }

    /// JSON chapters of Podcasting 2.0.
    private struct Podcasting: Encodable {
        let version = "1.2.0"
        let chapters: [Entry]

        struct Entry: Encodable {
            let startTime: Double
            let endTime: Double
            let title: String
            let url: String?
        }

        init(_ list: [Metadata.Chapter]) {
            chapters = list.map {
                Entry(
                    startTime: Self.seconds($0.start), endTime: Self.seconds($0.end), title: $0.title,
                    url: $0.link.isEmpty ? nil : $0.link)
            }
        }

        private static func seconds(_ time: Int64) -> Double { Double(milliseconds(time)) / 1000 }
    }

    private static func webvtt(_ chapters: [Metadata.Chapter]) -> String {
        let cues = chapters.enumerated().map { index, chapter in
            // A cue's text is a single line, in which these three characters are special.
            let title = String(chapter.title.map { $0.isNewline ? " " : $0 })
                .replacing("&", with: "&amp;").replacing("<", with: "&lt;").replacing(">", with: "&gt;")
            return "\(index + 1)\n\(clock(chapter.start)) --> \(clock(chapter.end))\n\(title)\n"
        }
        return "WEBVTT\n\n" + cues.joined(separator: "\n")
    }

    /// A time as `01:02:03.456`.
    static func clock(_ nanoseconds: Int64) -> String {
        let milliseconds = milliseconds(nanoseconds)
        func two(_ number: Int64) -> String { number < 10 ? "0\(number)" : String(number) }
        let rest = String(String(1000 + milliseconds % 1000).dropFirst())
        return
            "\(two(milliseconds / 3_600_000)):\(two(milliseconds / 60_000 % 60)):\(two(milliseconds / 1000 % 60)).\(rest)"
    }

    /// Rounded to milliseconds. An endless chapter ends at the maximum time.
    private static func milliseconds(_ nanoseconds: Int64) -> Int64 { (nanoseconds / 500_000 + 1) / 2 }
}
