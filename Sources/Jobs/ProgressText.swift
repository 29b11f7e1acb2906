import JobSchema
import MediaTypes

/// A job's progress as one short field of its hash: `fraction position duration speed eta`, each `-` if unknown,
/// followed by `estimated` if the fraction is an estimate. For several outputs, the phase and percentage of each
/// follow, as in `c42`.
enum ProgressText {
    static func encode(_ progress: Progress) -> String {
        let numbers = [progress.fraction, progress.position, progress.duration, progress.speed, progress.eta].map(
            number)
        let outputs = progress.outputs.map { output in
            letters.first { $0.value == output.phase }!.key + String(Int(max(0, min(output.fraction, 1)) * 100 + 1e-6))
        }
        return (numbers + (progress.estimated ? ["estimated"] : []) + outputs).joined(separator: " ")
    }

    private static let letters: [String: OutputProgress.Phase] = [
        "w": .waiting, "c": .converting, "k": .checking, "d": .complete, "f": .failed,
    ]

    /// The progress in a field; `nil` if it is malformed.
    static func decode(_ text: String) -> Progress? {
        let parts = text.split(separator: " ")
        guard parts.count >= 5 else { return nil }
        let numbers = parts.prefix(5).map { Double($0).flatMap { $0.isFinite ? $0 : nil } }
        return Progress(
            phase: .converting, position: numbers[1] ?? 0, duration: numbers[2], fraction: numbers[0],
            speed: numbers[3],
            estimated: parts.contains("estimated"), eta: numbers[4],
            outputs: parts.dropFirst(5).compactMap(output))
    }

    private static func output(_ text: Substring) -> OutputProgress? {
        guard let phase = letters[String(text.prefix(1))], let percent = Int(text.dropFirst()) else { return nil }
        return OutputProgress(phase, fraction: Double(percent) / 100)
    }

    /// At most four decimals, because Redis encodes a hash compactly only while its values are short.
    private static func number(_ value: Double?) -> String {
        guard let value, value.isFinite, abs(value) < 1e11 else { return "-" }
        return String((value * 10_000).rounded() / 10_000)
    }
}
