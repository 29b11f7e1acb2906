/// A progress bar.
struct ProgressBar: Sendable {
    /// In columns.
    let width: Int
    /// Whether eighths of a column can be drawn.
    let hasUnicode: Bool

    /// The bar for a fraction of one; `nil` means unknown.
    func text(_ fraction: Double?) -> String {
        guard width > 0 else { return "" }
        guard let fraction, fraction.isFinite else { return String(repeating: hasUnicode ? "░" : ".", count: width) }
        let filled = min(max(fraction, 0), 1) * Double(width)
        return hasUnicode ? blocks(filled) : hashes(Int(filled))
    }

    private func hashes(_ filled: Int) -> String {
        String(repeating: "#", count: filled) + String(repeating: "-", count: width - filled)
    }

    private func blocks(_ filled: Double) -> String {
        let whole = Int(filled)
        let eighths = Int((filled - Double(whole)) * 8)
        let part = eighths == 0 || whole == width ? "" : String(Array("▏▎▍▌▋▊▉")[eighths - 1])
        let full = String(repeating: "█", count: whole) + part
        return full + String(repeating: "░", count: width - whole - (part.isEmpty ? 0 : 1))
    }
}
