import JobSchema
import MediaTypes

/// The options generated from the fields of a job.
enum FieldOptions {
    /// Every field except the source, which is an operand.
    static let all: [Option] = JobField.all.filter { $0.name != "source" }.map(option)

    /// The source as an option, for commands without a source operand.
    static let source = JobField.named("source").map(option)!

    /// The fields that describe a result, and the part of the source that it contains.
    static let conversion: [Option] = JobField.all
        .filter { $0.scope != .queue && !["source", "output"].contains($0.name) }.map(option)

    /// The fields given by the arguments.
    static func fields(_ arguments: Arguments, of options: [Option]) -> [String: String] {
        var fields: [String: String] = [:]
        for option in options {
            if let value = arguments.given(option).last { fields[fieldName(option)] = value }
        }
        return fields
    }

    private static func fieldName(_ option: Option) -> String { String(option.name.map { $0 == "-" ? "_" : $0 }) }

    private static func option(_ field: JobField) -> Option {
        let isFormat = field.name == "format"
        return Option(
            field.flag, letter: isFormat ? "f" : nil, aliases: isFormat ? ["to"] : [], value: field.placeholder,
            field.summary, fallback: field.fallback, suggestion: suggestion(field))
    }

    private static func suggestion(_ field: JobField) -> Option.Suggestion {
        switch field.name {
        case "format": .words(AudioFormat.all.map(\.name))
        case "codec": .words(AudioCodec.all.map(\.name))
        case "channel_layout": .words(ChannelLayoutName.all)
        default: field.type.words.isEmpty ? .nothing : .words(field.type.words)
        }
    }
}
