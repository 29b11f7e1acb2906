/// The condition that did not become true in time.
package struct NotInTime: Error, CustomStringConvertible {
    package let description: String

    package init(description: String) { self.description = description }
}

/// Polls the condition until it holds; throws if it does not hold within the time limit.
///
/// The limit only ends a test whose condition never holds. It is long, because a busy machine may be many times slower than an
/// idle one, or stand still for seconds.
package func eventually(
    _ what: String, within limit: Duration = .seconds(60), every interval: Duration = .milliseconds(10),
    _ condition: () async throws -> Bool
) async throws {
    let end = ContinuousClock.now + limit
    while try await !condition() {
        guard ContinuousClock.now < end else { throw NotInTime(description: "not within \(limit): \(what)") }
        try await Task.sleep(for: interval)
    }
}
