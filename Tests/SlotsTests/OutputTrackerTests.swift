import JobSchema
import MediaTypes
import SlotIPC
import TestSupport
import Testing

@testable import Slots

@Suite(.failureReport, .timeLimit(.minutes(5))) struct OutputTrackerTests {
    private static let measurement = OutputMeasurement(
        codec: "flac", duration: 1, sampleRate: 44_100, channels: 2, bitRate: 700_000)

    private func board(_ formats: [String] = ["flac"]) -> OutputTracker {
        let plan = ConversionPlan(renditions: formats.map { Rendition(format: $0) })
        let task = SlotTask(
            id: "job", token: "1", sourceURL: "file:///a.wav", plan: plan,
            outputs: formats.map { .init("out.\($0)", defaultName: "out.\($0)") })
        return OutputTracker(task, maxSeconds: 3600)
    }

    private static let staged = StagedOutput(
        destination: "/out/out.flac", staged: "/out/.staged", bytes: 1234, sha256: "abcd")

    @Test func `a report has the requested settings and the checksum of transfer`() throws {
        var board = board()
        var measurement = Self.measurement
        measurement.settings = ["codec": "flac", "channels": "2", "evil": "x", "sample_rate": "\u{1b}[31m"]
        measurement.warnings = [Warning(.outputSkipped, "x"), Warning(.clipped, "loud\u{202e}\n")]
        try board.measured(0, measurement)
        try board.converted()
        #expect(try board.record() == nil)
        board.staged(0, Self.staged)
        let report = try #require(try board.record()).outputs[0].report
        #expect(report.url == "/out/out.flac" && report.bytes == 1234 && report.sha256 == "abcd" && report.isMade)
        #expect(report.format == "flac" && Set(report.settings.keys) == ["codec", "channels", "sample_rate"])
        #expect(report.settings["sample_rate"]?.effective == #"\u001b[31m"#)
        #expect(report.warnings.map(\.code) == ["clipped"] && report.warnings[0].message == #"loud\u202e\u000a"#)
    }

    @Test func `numbers and names that no output has are refused`() throws {
        let lies: [(String, (inout OutputMeasurement) -> Void)] = [
            ("codec", { $0.codec = "mp3" }), ("codec", { $0.codec = String(repeating: "x", count: 100_000) }),
            ("codec", { $0.codec = "png" }),
            ("duration", { $0.duration = .nan }), ("duration", { $0.duration = .infinity }),
            ("duration", { $0.duration = -1 }), ("duration", { $0.duration = 3700 }),
            ("sample_rate", { $0.sampleRate = 0 }), ("channels", { $0.channels = .max }),
            ("bit_rate", { $0.bitRate = -1 }), ("gapless", { $0.gapless.start = -1 }),
            ("damage", { $0.damage.seconds = -.infinity }), ("damage", { $0.damage.events = -5 }),
            (
                "loudness",
                { $0.loudness = LoudnessChange(before: Loudness(truePeak: .nan), gain: 0, after: Loudness()) }
            ),
            ("audio_md5", { $0.audioMD5 = String(repeating: "A", count: 32) }),
            ("title", { $0.titles = [TimedTitle(time: .infinity, title: "x")] }),
        ]
        for (name, lie) in lies {
            var board = board()
            var measurement = Self.measurement
            lie(&measurement)
            let error = #expect(throws: ImplausibleReport.self) { try board.measured(0, measurement) }
            #expect(error?.description.contains(name) == true && (error?.description.utf8.count ?? 0) < 200, "\(name)")
        }
    }

    @Test func `an output is reported once, belongs to the job, and comes before the end`() throws {
        var board = board(["flac", "wav"])
        #expect(throws: ImplausibleReport.self) { try board.measured(2, Self.measurement) }
        #expect(throws: ImplausibleReport.self) { try board.measured(-1, Self.measurement) }
        try board.measured(0, Self.measurement)
        #expect(throws: ImplausibleReport.self) { try board.measured(0, Self.measurement) }
        #expect(throws: ImplausibleReport.self) { try board.unconverted(0, Failure(.internal, "x")) }
        #expect(throws: ImplausibleReport.self) { try board.converted() }
        #expect(throws: ImplausibleReport.self) { try board.unconverted(1, Failure(.expired, "x")) }
        #expect(throws: ImplausibleReport.self) { try board.converted() }
    }

    @Test func `the end is reported once, after all outputs`() throws {
        var board = board(["flac", "wav"])
        try board.measured(0, Self.measurement)
        try board.unconverted(1, Failure(.internal, String(repeating: "\u{7}", count: 10_000)))
        try board.converted()
        #expect(throws: ImplausibleReport.self) { try board.converted() }
        board.staged(0, Self.staged)
        let record = try #require(try board.record())
        #expect(record.outputs[1].report.error.map { $0.message.utf8.count < 1100 } == true)
        #expect(record.outputs[1].report.error?.message.hasPrefix(#"\u0007\u0007"#) == true)
    }

    @Test func `only transfer can report a skipped output`() throws {
        var board = board()
        board.skipped(0, "out.flac")
        try board.measured(0, Self.measurement)
        #expect(try board.record()?.outputs[0].report.isSkipped == true)
    }
}
