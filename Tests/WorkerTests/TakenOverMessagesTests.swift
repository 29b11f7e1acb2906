import Foundation
import Glibc
import JobSchema
import Jobs
import TestSupport
import Testing

/// What a transcoder that was taken over says to its worker, as messages or on its standard error.
@Suite(.failureReport, .timeLimit(.minutes(5))) struct TakenOverMessagesTests {
    private let installation: TakenOverTests

    init() async throws { installation = try await TakenOverTests() }

    /// A source whose reader sends these lines to its worker, so often, and perhaps stays then.
    private func speaking(_ lines: [String], _ words: String, as name: String, in shop: Workshop) throws -> String {
        try shop.source("\(name).wav", Array("ATTACK speaks \(words)\n\(lines.joined(separator: "\n"))\n".utf8))
    }

    private func end(of source: String, in shop: Workshop, timeout: Int = 60) async throws -> JobRecord {
        let id = try await shop.push([
            "source": source, "format": "flac", "attempts": "1", "timeout": "\(timeout)",
        ])
        var last: JobRecord?
        try await eventually("the job of \(source) ends", every: .milliseconds(20)) {
            last = try await shop.job(id)
            return last.map { [.completed, .failed, .cancelled].contains($0.state) } ?? false
        }
        return last!
    }

    private func converts(_ name: String, in shop: Workshop) async throws {
        let id = try await shop.push([
            "source": try shop.source("\(name).wav", Sounds.ramp(samples: 4410)), "format": "flac",
        ])
        try await shop.job(id, reaches: .completed)
    }

    @Test func `a transcoder cannot report a missing result, a code of the worker's, or unbounded text`()
        async throws
    {
        let shop = try await Workshop()
        // What stays in the place of its transcoder would keep the next job waiting.
        let worker = try await installation.worker(shop, ["RESPOOL_JOBS_PER_PAIR": "1"])
        let forged =
            #"{"output":{"_0":0,"_1":{"url":"https://evil.example/x","format":"exe","error":null,"#
            + #""warnings":[{"code":"output_skipped","message":"x"}]}}}"#
        let failed = #"{"failed":{"_0":{"code":"timeout","message":"too long","retryable":true}}}"#
        let measured =
            #"{"output":{"_0":0,"_1":{"codec":"flac","duration":1,"sampleRate":44100,"channels":1,"bitRate":-5,"#
            + #""copied":false,"gapless":{"start":0,"end":0},"damage":{"seconds":0,"events":0},"settings":{},"#
            + #""warnings":[],"titles":[]}}}"#
        let lies = [
            ("report", [forged, #"{"converted":{}}"#]), ("code", [failed]), ("numbers", [measured]),
            ("nothing", [#"{"converted":{}}"#]), ("number", [measured.replacing("\"_0\":0", with: "\"_0\":7")]),
            ("order", [#"{"probed":{"_0":"{}"}}"#]), ("empty", ["", ""]),
            ("phase", [#"{"progress":{"_0":{"phase":"publishing","position":0,"estimated":false,"outputs":[]}}}"#]),
        ]
        for (name, lines) in lies {
            let job = try await end(of: try speaking(lines, "1,stays", as: name, in: shop), in: shop)
            #expect(job.state == .failed && job.error?.code == .crashed, "\(name): \(job)")
            #expect(job.outputs?.contains { $0.url.contains("evil") } != true, "\(name): \(job)")
        }
        let long = String(repeating: "\\u001b[31m\\u202eloud", count: 5000)
        let text = #"{"failed":{"_0":{"code":"corrupt_media","message":"\#(long)","retryable":false}}}"#
        let job = try await end(of: try speaking([text], "1,stays", as: "text", in: shop), in: shop)
        let message = try #require(job.error?.message)
        #expect(message.hasPrefix(#"\u001b[31m\u202eloud"#) && message.utf8.count <= 1100, "\(message)")
        #expect(!worker.errors.unicodeScalars.contains { $0 == "\u{1b}" || $0 == "\u{202e}" })
        try await converts("after", in: shop)
    }

    @Test func `a transcoder that floods its worker is killed, and no other job notices`() async throws {
        let shop = try await Workshop()
        let worker = try await installation.worker(shop, ["RESPOOL_SLOTS": "2"])
        let line = #"{"log":{"_0":"\#(String(repeating: "x", count: 60_000))"}}"#
        let progress = #"{"progress":{"_0":{"phase":"converting","position":1,"estimated":false,"outputs":[]}}}"#
        for (name, line) in [("lines", line), ("progress", progress)] {
            let source = try speaking([line], "2000000000", as: name, in: shop)
            async let flood = end(of: source, in: shop)
            try await converts("beside \(name)", in: shop)
            let job = try await flood
            #expect(job.error?.code == .crashed, "\(name): \(job)")
            #expect(job.error?.message.contains("sent more messages than its limit") == true, "\(job)")
        }
        let status = try String(contentsOfFile: "/proc/\(worker.pid)/status", encoding: .utf8)
        let peak = status.split(separator: "\n").first { $0.hasPrefix("VmHWM") }.flatMap {
            Int($0.filter(\.isNumber))
        }
        #expect(try #require(peak) < 200 << 10, "\(peak ?? 0) kB")
        #expect(worker.isRunning)
    }

    @Test func `a transcoder that is loud and then mute is stopped at the job's timeout`() async throws {
        let shop = try await Workshop()
        let worker = try await installation.worker(shop, [:])
        let line = #"{"log":{"_0":"\#(String(repeating: "x", count: 60_000))"}}"#
        let source = try speaking([line], "100,stays", as: "backlog", in: shop)
        let job = try await end(of: source, in: shop, timeout: 2)
        #expect(job.error?.code == .timeout, "\(job)")
        // One character of 110,000 bytes is no way around a limit of characters.
        let accents = #"{"log":{"_0":"e\#(String(repeating: "\u{301}", count: 55_000))"}}"#
        let failed = #"{"failed":{"_0":{"code":"corrupt_media","message":"x","retryable":false}}}"#
        let id = try await end(
            of: try speaking([accents, failed], "1,stays", as: "accents", in: shop), in: shop
        ).id
        let lines = try await shop.queue.log(id)
        #expect(!lines.isEmpty && lines.allSatisfy { $0.utf8.count < 400 }, "\(lines.map(\.utf8.count))")
        #expect(worker.isRunning)
    }

    @Test func `a transcoder cannot write a line of the worker's log`() async throws {
        let shop = try await Workshop()
        let worker = try await installation.worker(shop, ["RESPOOL_JOBS_PER_PAIR": "1"])
        let forged = #"{"time":"2026-01-01T00:00:00Z","level":"error","message":"forged"}"# + "\u{1b}[31m\u{202e}red"
        let source = try shop.source("forged.wav", Array("ATTACK writes 1\n\(forged)\n".utf8))
        let job = try await end(of: source, in: shop)
        try await worker.logs("forged")
        let lines = worker.errors.split(separator: "\n").filter { $0.contains("forged\\\"") }
        #expect(lines.count == 1 && !worker.errors.split(separator: "\n").contains { $0.hasPrefix(forged.prefix(50)) })
        let line = try #require(lines.first)
        #expect(line.contains(#""message":"a child wrote to its standard error""#))
        #expect(line.contains(#""child":"respool-transcode""#) && line.contains(#""job":"\#(job.id)""#), "\(line)")
        #expect(!line.unicodeScalars.contains { $0 == "\u{1b}" || $0 == "\u{202e}" }, "\(line)")
        // A flood is thinned out, and its last words are there.
        let words = (0..<30_000).map { "flood \($0) \(String(repeating: "x", count: 60))" } + ["the last words"]
        let flood = try shop.source(
            "flood.wav", Array("ATTACK writes 1\n\(words.joined(separator: "\n"))\n".utf8))
        _ = try await end(of: flood, in: shop)
        try await converts("after", in: shop)
        worker.kill(SIGTERM)
        await worker.wait()
        #expect(worker.errors.contains("the last words") && worker.errors.contains("lines are left out"))
        #expect(worker.errors.utf8.count < 1 << 20)
    }
}
