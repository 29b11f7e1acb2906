import FoundationEssentials

/// Parses instants.
package enum Instant {
    /// Milliseconds since 1970 of an ISO 8601 instant with a time zone; fractions of a second are allowed.
    package static func milliseconds(parsing text: String) -> Int64? {
        let plain = Date.ISO8601FormatStyle()
        let fractional = Date.ISO8601FormatStyle(includingFractionalSeconds: true)
        guard text.utf8.count <= 40, let date = (try? fractional.parse(text)) ?? (try? plain.parse(text)) else {
            return nil
        }
        return Int64((date.timeIntervalSince1970 * 1000).rounded())
    }
}
