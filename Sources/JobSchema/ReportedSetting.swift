import MediaTypes

/// A setting of a report in JSON: a number if the field is numeric, else text.
struct ReportedSetting: Codable {
    private let requested: JSONValue?
    private let effective: JSONValue

    init(_ setting: Setting, of field: String) {
        // The number of tracks that have a file each is reported without being a field.
        let isNumeric = field == "tracks" || JobField.named(field)?.isNumeric == true
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
