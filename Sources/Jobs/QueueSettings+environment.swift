package import JobSchema
import Lifecycle

extension QueueSettings {
    /// The defaults, changed by `RESPOOL_MAX_CRASHES`, `RESPOOL_KEEP_EVENTS` and `RESPOOL_KEEP_COMPLETED`, `_FAILED`,
    /// `_CANCELLED`, `_CALLBACKS` (`10000` or `10000/7d`).
    package static func fromEnvironment(
        _ value: (String) -> String? = Environment.value
    ) throws(Failure) -> QueueSettings {
        var settings = QueueSettings()
        if let text = value("RESPOOL_MAX_CRASHES") {
            guard let number = Int(text), (1...1_000_000).contains(number) else {
                throw Failure(.invalidRequest, "RESPOOL_MAX_CRASHES is `\(text)`: it must be a whole number from 1")
            }
            settings.maxCrashes = number
        }
        if let text = value("RESPOOL_KEEP_EVENTS") {
            guard let number = Int(text), (100...100_000_000).contains(number) else {
                throw Failure(
                    .invalidRequest, "RESPOOL_KEEP_EVENTS is `\(text)`: it must be a whole number from 100 to 100000000"
                )
            }
            settings.events = number
        }
        settings.done = try retention("RESPOOL_KEEP_COMPLETED", value, settings.done)
        settings.failed = try retention("RESPOOL_KEEP_FAILED", value, settings.failed)
        settings.cancelled = try retention("RESPOOL_KEEP_CANCELLED", value, settings.cancelled)
        settings.called = try retention("RESPOOL_KEEP_CALLBACKS", value, settings.called)
        return settings
    }

    private static func retention(
        _ name: String, _ value: (String) -> String?, _ fallback: Retention
    ) throws(Failure) -> Retention {
        guard let text = value(name) else { return fallback }
        let parts = text.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        guard let count = Int(parts[0]), (0...100_000_000).contains(count),
            let age = parts.count == 1 ? fallback.age : age(parts[1])
        else {
            throw Failure(
                .invalidRequest, "\(name) is `\(text)`: it must be how many are kept, and perhaps an age: 10000/7d")
        }
        return Retention(count: count, age: age)
    }

    /// Parses `7d`, `12h`, `30m` or `45s`.
    private static func age(_ text: String) -> Duration? {
        let units: [Character: Int] = ["d": 86_400, "h": 3600, "m": 60, "s": 1]
        guard let unit = text.last.flatMap({ units[$0] }), let number = Int(text.dropLast()),
            (1...100_000).contains(number)
        else { return nil }
        return .seconds(number * unit)
    }
}
