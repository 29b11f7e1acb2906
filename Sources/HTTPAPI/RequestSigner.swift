import Crypto
import Lifecycle
import Text

/// Signs what a client may do later without a token, or what it has to confirm. The key ends with the process.
struct RequestSigner: Sendable {
    private let key: [UInt8]

    init() {
        var random = SystemRandomNumberGenerator()
        key = (0..<32).map { _ in UInt8.random(in: .min ... .max, using: &random) }
    }

    /// A text that is valid for these parts until the instant, in seconds since 1970.
    func sign(_ parts: [String], until instant: Int64) -> String { "\(instant).\(code(parts, instant))" }

    /// Whether a text was signed for these parts, and is still valid.
    func isValid(_ text: String, for parts: [String]) -> Bool {
        let words = text.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
        guard words.count == 2, let instant = Int64(words[0]), "\(instant)" == words[0] else { return false }
        return isEqualInConstantTime(Array(words[1].utf8), Array(code(parts, instant).utf8)) && instant > Self.now
    }

    /// Seconds since 1970.
    static var now: Int64 { WallClock.milliseconds() / 1000 }

    private func code(_ parts: [String], _ instant: Int64) -> String {
        // Each part has its length in front, so that no other parts have the same text.
        let text = (parts + ["\(instant)"]).map { "\($0.utf8.count):\($0)" }.joined()
        return hmacSHA256(Array(text.utf8), key: key).hexadecimal
    }
}
