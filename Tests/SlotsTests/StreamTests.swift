import JobSchema
import MediaTypes
import SlotIPC
import Slots
import TestSupport
import Testing

/// Outputs and sources of several files, through both children.
@Suite(.failureReport, .timeLimit(.minutes(5))) struct StreamTests {
    @Test func `one pair writes and reads a stream without a file that its plan lacks`() async throws {
        let studio = try await Studio()
        let slot = studio.slot { $0.policy.sourceRoots.append("\(studio.folder.path)/out") }
        var task = studio.task("s")
        var stream = Rendition(format: "hls")
        stream.segments.bitRates = [64_000, 128_000]
        task.plan = ConversionPlan(renditions: [stream])
        task.outputs = [.init("s.m3u8", defaultName: "")]
        _ = try await slot.convert(task) { _ in }
        try await slot.publish()
        let processes = slot.processes
        await slot.end()
        let parts = ["128k", "64k"].flatMap { ["-\($0)-00001.m4s", "-\($0)-init.mp4", "-\($0).m3u8"] }
        #expect(try studio.outputs() == parts.map { "s-1s\($0)" } + ["s.m3u8"])

        // Its segments are joined in a scratch file, which is gone with the job.
        var back = studio.task("back")
        back.sourceURL = "file://\(studio.folder.path)/out/s.m3u8"
        _ = try await slot.convert(back) { _ in }
        try await slot.publish()
        await slot.end()
        #expect(try await studio.frames(of: "back.wav") == Studio.frames)
        #expect(slot.processes == processes)
        await slot.shutdown()
    }
}
