import FoundationEssentials
import Glibc

/// The environment variables of a process; one that is empty counts as not set.
package struct Environment: Sendable {
    private let lookup: @Sendable (String) -> String?

    /// The environment of this process, read at each call.
    package static let process = Environment { getenv($0).map { String(cString: $0) } }

    private init(lookup: @escaping @Sendable (String) -> String?) { self.lookup = lookup }

    package init(_ values: [String: String]) { self.init { values[$0] } }

    /// A variable that is not one of respool's, as `TERM`; the lint has the files that may read one.
    package func foreign(_ name: String) -> String? {
        guard let value = lookup(name), !value.isEmpty else { return nil }
        return value
    }

    /// The text of a setting, as it is; nothing if it is not set.
    package func text<Value>(_ setting: EnvironmentSetting<Value>) -> String? { foreign(setting.name) }

    /// The text of a setting of any type.
    package func text(of setting: any SettingDeclaration) -> String? { foreign(setting.name) }

    /// The value of a setting; nothing if it is not set.
    package func value<Value>(_ setting: EnvironmentSetting<Value>) throws(SettingError) -> Value? {
        guard let text = text(setting) else { return nil }
        guard let value = setting.form.parse(text) else { throw setting.error(text) }
        return value
    }

    /// The case that a setting names.
    package func value<Word: RawRepresentable<String>>(
        _ setting: EnvironmentSetting<String>, as type: Word.Type
    ) throws(SettingError) -> Word? {
        guard let text = try value(setting) else { return nil }
        guard let word = Word(rawValue: text) else { throw setting.error(text) }
        return word
    }

    /// Variables of this process that begin as respool's do, and are no settings.
    package static var unknownNames: [String] {
        let known = Set(Settings.all.map(\.name))
        return ProcessInfo.processInfo.environment.keys.filter { $0.hasPrefix("RESPOOL_") && !known.contains($0) }
            .sorted()
    }
}
