import Synchronization
import TestSupport
import Testing

@testable import Slots

@Suite(.failureReport, .timeLimit(.minutes(5))) struct SilenceTests {
    @Test func `a timeout that races with the end of a conversion fails no publication`() async throws {
        let studio = try await Studio()
        let slot = studio.slot()
        _ = try await slot.convert(studio.task("one")) { _ in }
        let pair = try #require(slot.shared.withLock { $0.pair })
        let watch = SilenceWatchdog(pair: pair, of: pair.transcode, limit: .milliseconds(10))
        var complaint = await pair.events.next()
        while true {
            if case .silent = complaint { break }
            complaint = await pair.events.next()
        }
        watch.end()
        pair.events.append(complaint)
        #expect(try await slot.publish().failures.isEmpty)
        #expect(try studio.outputs() == ["one.wav"])
        await slot.end()
        await slot.shutdown()
    }
}
