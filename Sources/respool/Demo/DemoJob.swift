import Lifecycle
import MediaTypes
import Text

/// A conversion that the demo enqueues.
struct DemoJob: Sendable {
    /// Name of the output file.
    let output: String
    let fields: [String: String]

    private init(_ source: String, _ output: String, format: AudioFormat.ID, _ settings: [String: String] = [:]) {
        self.output = output
        let url = "file://\(PercentEncoding.encoded(path: source))"
        let job = ["source": url, "format": format.rawValue, "output": output]
        fields = job.merging(settings) { $1 }
    }

    /// One job per format, and the synthesized audio as a whole and in part.
    static func all(programme: String, minutes: Int) -> [DemoJob] {
        // With more than two minutes, one minute is cut off at each end.
        let (start, end) = minutes > 2 ? (1, minutes - 1) : (0, minutes)
        let part = ["start": "\(start):00", "end": "\(end):00"]
        let name = "programme-minute-\(start)-to-\(end)"
        return recordings + [
            DemoJob(programme, "programme.m4a", format: .m4a, ["bit_rate": "128k"]),
            DemoJob(programme, "\(name).mp3", format: .mp3, part.merging(["bit_rate": "192k"]) { $1 }),
            DemoJob(programme, "programme.flac", format: .flac),
            DemoJob(programme, "\(name).opus", format: .opus, part.merging(["bit_rate": "64k"]) { $1 }),
        ]
    }

    private static let recordings: [DemoJob] = recordingFormats.map { name, format in
        let ending = AudioFormat.named(format.rawValue)!.fileExtension
        return DemoJob("\(DemoNeeds.sounds)/\(name).oga", "\(name).\(ending)", format: format, ["priority": "high"])
    }

    private static let recordingFormats: [(name: String, format: AudioFormat.ID)] = [
        ("bell", .mp3), ("complete", .m4a), ("service-login", .alac), ("alarm-clock-elapsed", .flac),
        ("audio-channel-front-left", .wav), ("dialog-information", .aiff), ("camera-shutter", .caf),
        ("message-new-instant", .ogg), ("phone-incoming-call", .opus),
    ]
}
