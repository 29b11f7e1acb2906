import MediaTypes
import SlotProtocol

/// A job's progress as one short field of its hash: `fraction position duration speed eta`, each `-` if unknown, and
/// `estimated` behind them if the fraction is a guess.
enum ProgressText {
    static func encode(_ progress: Progress) -> String {
        let numbers = [progress.fraction, progress.position, progress.duration, progress.speed, progress.eta].map(
            number)
        return (numbers + (progress.estimated ? ["estimated"] : [])).joined(separator: " ")
    }

    /// What the field says; a worker of the first version wrote only four numbers.
    static func decode(_ text: String) -> Progress? {
        let parts = text.split(separator: " ")
        guard parts.count >= 4 else { return nil }
        let numbers = parts.prefix(5).map { Double($0) }
        return Progress(
            phase: .converting, position: numbers[1] ?? 0, duration: numbers[2], fraction: numbers[0],
            speed: numbers[3],
            estimated: parts.last == "estimated", eta: numbers.count > 4 ? numbers[4] : nil)
    }

    /// At most four decimals; Redis keeps a hash compact while its values are short.
    private static func number(_ value: Double?) -> String {
        guard let value, value.isFinite, abs(value) < 1e11 else { return "-" }
        return String((value * 10_000).rounded() / 10_000)
    }
}
