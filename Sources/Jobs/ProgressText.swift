import MediaTypes
import SlotProtocol

/// A job's progress as one short field of its hash: `fraction position duration speed`, each `-` if unknown.
enum ProgressText {
    static func encode(_ progress: Progress) -> String {
        [progress.fraction, progress.position, progress.duration, progress.speed].map(number).joined(separator: " ")
    }

    /// The four numbers.
    static func decode(_ text: String) -> (fraction: Double?, position: Double?, duration: Double?, speed: Double?) {
        let parts = text.split(separator: " ").map { Double($0) }
        guard parts.count == 4 else { return (nil, nil, nil, nil) }
        return (parts[0], parts[1], parts[2], parts[3])
    }

    /// At most four decimals; Redis keeps a hash compact while its values are short.
    private static func number(_ value: Double?) -> String {
        guard let value, value.isFinite, abs(value) < 1e11 else { return "-" }
        return String((value * 10_000).rounded() / 10_000)
    }
}
