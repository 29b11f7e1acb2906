import MediaTypes
import SlotProtocol

/// The options that are made from the table of a job's fields.
enum FieldOptions {
    /// Every field but the source, which is an operand.
    static let all: [Option] = JobField.all.filter { $0.name != "source" }.map(option)

    /// Those that tell what a result is to be and which part of the source it holds.
    static let conversion: [Option] = all.filter { conversionNames.contains($0.name) || !$0.isSupported && isMedia($0) }

    /// The fields that the arguments give.
    static func fields(_ arguments: Arguments, of options: [Option]) -> [String: String] {
        var fields: [String: String] = [:]
        for option in options {
            if let value = arguments.given(option).last { fields[fieldName(option)] = value }
        }
        return fields
    }

    private static let conversionNames: Set<String> = [
        "format", "codec", "bit-rate", "quality", "sample-rate", "channels", "sample-format", "start", "end",
        "duration",
        "passthrough", "segment-duration", "segment-format", "outputs", "atomic",
        "channel-map", "mix", "resampler", "loudness", "true-peak", "gain", "fade-in", "fade-out",
        "trim-silence", "replay-gain",
    ]

    /// Fields of later engines that a job without a queue could have, too.
    private static func isMedia(_ option: Option) -> Bool {
        !["group", "limit-key", "callback", "overwrite"].contains(option.name)
    }

    private static func fieldName(_ option: Option) -> String { String(option.name.map { $0 == "-" ? "_" : $0 }) }

    private static func option(_ field: JobField) -> Option {
        let isFormat = field.name == "format"
        return Option(
            field.flag, letter: isFormat ? "f" : nil, aliases: isFormat ? ["to"] : [], value: field.placeholder,
            field.summary, fallback: field.fallback, suggestion: suggestion(field), isSupported: field.isSupported)
    }

    private static func suggestion(_ field: JobField) -> Option.Suggestion {
        switch field.name {
        case "format": .words(AudioFormat.all.map(\.name))
        case "codec": .words(AudioCodec.all.map(\.name))
        case "sample_format": .words(SampleFormat.allCases.map(\.rawValue))
        case "priority": .words(JobSpec.Priority.allCases.map(\.name))
        case "atomic": .words(["true", "false"])
        case "passthrough": .words(Passthrough.allCases.map(\.rawValue))
        case "resampler": .words(ResamplerEngine.allCases.map(\.rawValue))
        case "replay_gain": .words(ReplayGain.allCases.map(\.rawValue))
        default: .nothing
        }
    }
}
