import FoundationEssentials
import Glibc

/// The properties of the output files according to ffprobe.
struct FileReport {
    let folder: String
    let names: [String]

    /// The output of `ffprobe -of json`, in which most numbers are strings.
    private struct Answer: Decodable {
        let streams: [Stream]
        let format: Format

        struct Stream: Decodable {
            let codec_name: String?
            let sample_rate: String?
            let channels: Int?
        }

        struct Format: Decodable {
            let duration: String?
            let bit_rate: String?
            let size: String?
        }
    }

    /// One line per file, below a header line.
    func lines(_ stage: DemoStage) async throws(CommandFailure) -> [String] {
        var table = Table([
            "FILE": .left, "CODEC": .left, "LENGTH": .right, "SECONDS": .right, "HZ": .right, "CH": .right,
            "KB/S": .right, "SIZE": .right,
        ])
        for name in names {
            let data = try await stage.output(of: [
                "ffprobe", "-v", "error", "-select_streams", "a:0", "-show_entries",
                "stream=codec_name,sample_rate,channels:format=duration,bit_rate,size", "-of", "json",
                "\(folder)/\(name)",
            ])
            table.append(row(name, try? JSONDecoder().decode(Answer.self, from: data)))
        }
        return table.lines(for: .output)
    }

    private func row(_ name: String, _ answer: Answer?) -> [Table.Cell] {
        guard let answer, let stream = answer.streams.first else {
            return [.init(name, .red), "not readable", "", "", "", "", "", ""]
        }
        let seconds = answer.format.duration.flatMap(Double.init)
        return [
            .init(name, .bold), .init(stream.codec_name ?? "-"), .init(seconds.map(Formatting.clock) ?? "-"),
            .init(seconds.map { Formatting.decimal($0, places: 3) } ?? "-"), .init(stream.sample_rate ?? "-"),
            .init(stream.channels.map(String.init) ?? "-"),
            .init(answer.format.bit_rate.flatMap(Int.init).map { String($0 / 1000) } ?? "-"),
            .init(answer.format.size.flatMap(Int64.init).map(Formatting.bytes) ?? "-"),
        ]
    }
}
