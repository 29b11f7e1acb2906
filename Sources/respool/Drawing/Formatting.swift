/// Formats quantities for people.
enum Formatting {
    /// Seconds as a clock: `0:07`, `5:00`, `1:02:03`; rounded down.
    static func clock(_ seconds: Double) -> String {
        guard seconds.isFinite, seconds >= 0, seconds < 1e9 else { return "-:--" }
        let whole = Int(seconds)
        let tail = "\(padded(whole % 60))"
        return whole < 3600
            ? "\(whole / 60):\(tail)" : "\(whole / 3600):\(padded(whole / 60 % 60)):\(tail)"
    }

    /// Seconds as a length: `0.14 s` below ten seconds, `5:00` from there on.
    static func length(_ seconds: Double) -> String {
        (0..<10).contains(seconds) ? "\(decimal(seconds, places: 2)) s" : clock(seconds)
    }

    /// Seconds in the largest fitting units: `840 ms`, `12 s`, `3 min`, `5 h`, `2 d`.
    static func span(_ seconds: Double) -> String {
        guard seconds.isFinite, seconds >= 0 else { return "-" }
        return switch seconds {
        case ..<1: "\(Int(seconds * 1000)) ms"
        case ..<120: "\(Int(seconds)) s"
        case ..<7200: "\(Int(seconds / 60)) min"
        case ..<172_800: "\(Int(seconds / 3600)) h"
        default: seconds < 1e12 ? "\(Int(seconds / 86_400)) d" : "-"
        }
    }

    /// Bytes with two or three significant digits: `512 B`, `4.8 MB`.
    static func bytes(_ count: Int64) -> String {
        guard count >= 1000 else { return "\(count) B" }
        var value = Double(count)
        for unit in ["kB", "MB", "GB", "TB", "PB"] {
            value /= 1000
            if value < 999.5 || unit == "PB" { return "\(short(value)) \(unit)" }
        }
        return "\(count) B"
    }

    /// A count with grouped thousands: `12 345`.
    static func count(_ number: Int) -> String {
        let digits = String(number.magnitude)
        var result = ""
        for (index, digit) in digits.enumerated() {
            if index > 0, (digits.count - index).isMultiple(of: 3) { result += " " }
            result.append(digit)
        }
        return (number < 0 ? "-" : "") + result
    }

    /// A count with its noun: `1 job`, `3 jobs`.
    static func count(_ number: Int, _ noun: String) -> String { "\(count(number)) \(noun)\(number == 1 ? "" : "s")" }

    /// A fraction of one as a percentage, rounded down, so that 100 % means complete: `42 %`.
    static func percent(_ fraction: Double) -> String { "\(Int((min(max(fraction, 0), 1) * 100).rounded(.down))) %" }

    /// Speed in seconds of audio per second: `61×`.
    static func speed(_ value: Double, hasUnicode: Bool = true) -> String { short(value) + (hasUnicode ? "×" : "x") }

    /// One decimal place below ten, none from there on.
    static func short(_ value: Double) -> String {
        guard value.isFinite, abs(value) < 1e15 else { return "-" }
        let tenths = Int((value * 10).rounded())
        return abs(tenths) < 100 ? "\(tenths / 10).\(abs(tenths % 10))" : "\(Int(value.rounded()))"
    }

    /// A number with the given number of decimal places.
    static func decimal(_ value: Double, places: Int) -> String {
        let scale = (0..<places).reduce(1) { scale, _ in scale * 10 }
        guard value.isFinite, abs(value) < 1e12 else { return "-" }
        let units = Int((abs(value) * Double(scale)).rounded())
        let fraction = String(units % scale)
        let sign = value < 0 && units > 0 ? "-" : ""
        let zeros = String(repeating: "0", count: max(0, places - fraction.count))
        return places == 0 ? "\(sign)\(units)" : "\(sign)\(units / scale).\(zeros)\(fraction)"
    }

    private static func padded(_ number: Int) -> String { number < 10 ? "0\(number)" : String(number) }
}
