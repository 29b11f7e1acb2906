import Foundation
import JobSchema
import Jobs
import MediaTypes
import TestSupport
import Testing

/// Jobs from the push to the finished file, by a real worker with real children.
@Suite(.failureReport, .timeLimit(.minutes(5))) struct ConversionTests {
    @Test func `a pushed job converts its range to the sample`() async throws {
        let shop = try await Workshop()
        let worker = try await shop.worker()
        let source = try shop.source("ramp.wav", Sounds.ramp(samples: 100_000))
        let id = try await shop.push([
            "source": source, "format": "wav", "start": "12345/44100", "end": "98765/44100",
        ])
        let job = try await shop.job(id, reaches: .completed)
        let output = try #require(job.outputs?.first)
        #expect(output.url.hasSuffix("/out/\(id).wav"))
        #expect(output.duration == Double(98_765 - 12_345) / 44_100)
        #expect(job.attempt == 1)
        let raw = shop.output("decoded.raw")
        let decoding = try await WarmProgram.ffmpeg.run(
            ["-v", "error", "-i", shop.output("\(id).wav"), "-f", "s16le", raw])
        #expect(decoding.succeeded)
        let all = Sounds.ramp(samples: 100_000).dropFirst(44)
        #expect(
            FileManager.default.contents(atPath: raw).map { Array($0) }
                == Array(all.prefix(2 * 98_765).dropFirst(2 * 12_345)))
        #expect(shop.outputs.sorted() == ["\(id).wav", "decoded.raw"].sorted())
        withExtendedLifetime(worker) {}
    }

    @Test func `each bad job ends with its code, and the worker goes on`() async throws {
        let shop = try await Workshop()
        let worker = try await shop.worker()
        let good = try shop.source("good.wav", Sounds.ramp(samples: 4410))
        let text = try shop.source("text.mp3", "no audio at all, only words\n".utf8)
        let empty = try shop.source("empty.flac", [])
        let jobs: [(ErrorCode, KeyValuePairs<String, String>)] = [
            (.unsupportedFormat, ["source": text, "format": "mp3"]),
            (.corruptMedia, ["source": empty, "format": "mp3"]),
            (.sourceNotFound, ["source": good + ".missing", "format": "mp3"]),
            (.policyDenied, ["source": "file:///etc/passwd", "format": "mp3"]),
            (.invalidRequest, ["source": good, "format": "xyz"]),
            (.invalidRequest, ["source": good, "format": "mp3", "colour": "red"]),
            (.invalidTimeRange, ["source": good, "format": "mp3", "start": "2", "end": "1"]),
            (.outputDenied, ["source": good, "format": "mp3", "output": "/etc/respool.mp3"]),
            (.sourceUnreachable, ["source": "http://127.0.0.1:9/a.mp3", "format": "mp3", "attempts": "1"]),
        ]
        for (code, fields) in jobs {
            let job = try await shop.job(try await shop.push(fields), reaches: .failed)
            #expect(job.error?.code == code, "\(fields): \(job.error?.message ?? "")")
            #expect(job.error?.message.isEmpty == false)
        }
        let several = try await shop.push([
            "source": good, "format": "mp3", "channels": "0", "delay": "x", "colour": "red",
        ])
        let error = try #require(try await shop.job(several, reaches: .failed).error)
        #expect(error.fields?.map(\.field) == ["channels", "colour", "delay"] && error.code == .invalidRequest)
        let id = try await shop.push(["source": good, "format": "mp3"])
        try await shop.job(id, reaches: .completed)
        #expect(shop.outputs == ["\(id).mp3"])
        withExtendedLifetime(worker) {}
    }

    @Test func `a running job is cancelled, leaves nothing, and the next one runs`() async throws {
        let shop = try await Workshop()
        let server = try await SlowServer()
        let worker = try await shop.worker()
        let long = try await shop.push(["source": "\(server.url)/slow", "format": "mp3"])
        let next = try await shop.push([
            "source": try shop.source("a.wav", Sounds.ramp(samples: 4410)), "format": "flac",
        ])
        try await shop.isConverting(long)
        #expect(try await shop.queue.cancel([long]) == [.requested])
        try await shop.job(long, reaches: .cancelled)
        try await shop.job(next, reaches: .completed)
        #expect(shop.outputs == ["\(next).flac"])
        #expect(worker.errors.contains("cancelled"))
    }

    @Test func `an attempt ends at its timeout, and its warnings are in the log`() async throws {
        let shop = try await Workshop()
        let server = try await SlowServer()
        let worker = try await shop.worker()
        let late = try await shop.push([
            "source": "\(server.url)/slow-once?log", "format": "wav", "timeout": "6", "attempts": "7",
        ])
        let only = try await shop.push([
            "source": "\(server.url)/slow", "format": "mp3", "timeout": "1", "attempts": "1",
        ])
        let failed = try await shop.job(only, reaches: .failed)
        #expect(failed.error?.code == .timeout)
        #expect(failed.error?.message == "the attempt exceeded the job's timeout of 1 s")
        let short = try shop.source("short.wav", Sounds.ramp(samples: 4410))
        let warned = try await shop.push(["source": short, "format": "wav", "end": "5"])
        let plain = try await shop.push(["source": short, "format": "wav"])
        for id in [late, warned, plain] { try await shop.job(id, reaches: .completed) }
        let lines = try await shop.queue.log(late)
        #expect(lines.first?.contains("Z attempt 1 of 7 failed after") == true, "\(lines)")
        #expect(lines.first?.hasSuffix("exceeded the job's timeout of 6 s (timeout)") == true)
        #expect(lines.last?.contains("of 7 completed after") == true)
        let warning = try await shop.queue.log(warned)
        #expect(warning.first?.hasPrefix("warning: the range ends at 5") == true, "\(warning)")
        #expect(warning.count == 2 && warning[1].contains("attempt 1 of 5 completed"))
        #expect(try await shop.queue.log(plain).isEmpty)
        #expect(shop.outputs.sorted() == [late, warned, plain].map { "\($0).wav" }.sorted())
        withExtendedLifetime(worker) {}
    }

    @Test func `a server that sends a byte a second has a slot until the timeout`() async throws {
        let shop = try await Workshop()
        let server = try await SlowServer()
        let worker = try await shop.worker()
        let slow = try await shop.push([
            "source": "\(server.url)/drip", "format": "wav", "timeout": "3", "attempts": "1",
        ])
        #expect(try await shop.job(slow, reaches: .failed).error?.code == .timeout)
        let next = try shop.source("next.wav", Sounds.ramp(samples: 4410))
        try await shop.job(try await shop.push(["source": next, "format": "wav"]), reaches: .completed)
        withExtendedLifetime(worker) {}
    }

    @Test func `a job that waits for its host reports so, and can be cancelled`() async throws {
        let shop = try await Workshop()
        let server = try await SlowServer()
        let worker = try await shop.worker(["RESPOOL_SLOTS": "2", "RESPOOL_MAX_PER_HOST": "1"])
        var ids: [String] = []
        for _ in 0..<2 { ids.append(try await shop.push(["source": "\(server.url)/drip", "format": "wav"])) }
        var phases: [Phase?] = []
        try await eventually("one waits") {
            phases = []
            for id in ids { phases.append(try await shop.job(id)?.phase) }
            return phases.contains(.waiting)
        }
        #expect(phases.count { $0 == .waiting } == 1)
        let waiting = ids[phases.firstIndex(of: .waiting)!]
        _ = try await shop.queue.cancel([waiting])
        try await shop.job(waiting, reaches: .cancelled)
        withExtendedLifetime(worker) {}
    }
}
