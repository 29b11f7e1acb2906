import FoundationEssentials
import Glibc

/// The environment variables of a process; one that is empty counts as not set.
package struct Environment: Sendable {
    private let lookup: @Sendable (String) -> String?

    /// The environment of this process, read at each call.
    package static let process = Environment { getenv($0).map { String(cString: $0) } }

    private init(lookup: @escaping @Sendable (String) -> String?) { self.lookup = lookup }

    /// A fixed environment, independent of the process.
    package init(_ values: [String: String]) { self.init { values[$0] } }

    /// The value of a variable that is not a setting of respool, such as `TERM`. `Tools/check-arrows` lists the files that may read one.
    package func foreign(_ name: String) -> String? {
        guard let value = lookup(name), !value.isEmpty else { return nil }
        return value
    }

    /// The unparsed text of a setting; `nil` if it is not set.
    package func text(_ setting: any SettingDeclaration) -> String? { foreign(setting.name) }

    /// The output root; `nil` if it is not set, or is `none`. A folder of that name is given as `./none`.
    package var outputRoot: String? { text(Settings.outputRoot).flatMap { $0 == Settings.noFolder ? nil : $0 } }

    /// The value of a setting; `nil` if it is not set.
    package func value<Value>(_ setting: EnvironmentSetting<Value>) throws(SettingError) -> Value? {
        guard let text = text(setting) else { return nil }
        guard let value = setting.form.parse(text) else { throw setting.error(text) }
        return value
    }

    /// The case whose raw value a setting has.
    package func value<Word: RawRepresentable<String>>(
        _ setting: EnvironmentSetting<String>, as type: Word.Type
    ) throws(SettingError) -> Word? {
        guard let text = try value(setting) else { return nil }
        guard let word = Word(rawValue: text) else { throw setting.error(text) }
        return word
    }

    /// The variables of this process that begin with `RESPOOL_` and are not settings.
    package static var unknownNames: [String] {
        let known = Set(Settings.all.map(\.name))
        return ProcessInfo.processInfo.environment.keys.filter { $0.hasPrefix("RESPOOL_") && !known.contains($0) }
            .sorted()
    }
}
