import MediaTypes

/// A setting of a report in JSON: a number if the field is numeric, else text.
struct ReportedSetting: Codable {
    private let requested: JSONValue?
    private let effective: JSONValue

    /// Fields whose values are numbers; a layout such as `5.1` is not a number.
    private static let numeric: Set<String> = [
        "sample_rate", "channels", "bit_rate", "quality", "compression_level", "frame_duration", "loudness",
        "true_peak",
        "gain", "high_pass", "tempo", "drc", "tracks", "zoom", "pixels_per_second", "bits", "dynamic_range",
    ]

    init(_ setting: Setting, of field: String) {
        let isNumeric = Self.numeric.contains(field)
        requested = setting.requested.map { isNumeric ? Self.number($0) : .string($0) }
        effective = isNumeric ? Self.number(setting.effective) : .string(setting.effective)
    }

    var setting: Setting { Setting(requested: requested?.field, effective: effective.field ?? "") }

    /// The text as a number; text that is not numeric, such as `off`, stays text.
    private static func number(_ text: String) -> JSONValue {
        if let value = Int64(text) { return .integer(value) }
        if let value = Double(text), value.isFinite { return .number(value) }
        return .string(text)
    }
}
