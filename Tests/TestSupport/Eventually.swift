/// What did not become true in time.
package struct NotInTime: Error, CustomStringConvertible {
    package let description: String

    package init(description: String) { self.description = description }
}

/// Asks again and again until the condition holds; throws if it does not within the time.
package func eventually(
    _ what: String, within limit: Duration = .seconds(5), every interval: Duration = .milliseconds(10),
    _ condition: () async throws -> Bool
) async throws {
    let end = ContinuousClock.now + limit
    while try await !condition() {
        guard ContinuousClock.now < end else { throw NotInTime(description: "not within \(limit): \(what)") }
        try await Task.sleep(for: interval)
    }
}
