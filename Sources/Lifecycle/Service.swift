/// Something that runs until it is done, is cancelled, or fails.
package protocol Service: Sendable {
    /// Runs the service; returning or throwing ends it.
    func run() async throws
}
