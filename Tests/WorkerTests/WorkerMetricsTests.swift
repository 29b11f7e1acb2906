import JobSchema
import Jobs
import TestSupport
import Testing

/// What `/metrics` of a real worker counts.
@Suite(.failureReport, .timeLimit(.minutes(5))) struct WorkerMetricsTests {
    @Test func `what a job took of its source is counted, from files, servers and the cache`() async throws {
        let shop = try await Workshop()
        let (folder, cache) = (try TemporaryFolder(), try TemporaryFolder())
        let bytes = Sounds.ramp(samples: 44_100)
        let origin = try await ChildProcess(
            "python3", [Script.path("tagged_origin.py"), try folder.write("a.wav", bytes)])
        try await eventually("the origin listens") { origin.output.hasSuffix("\n") }
        let url = "http://127.0.0.1:\(origin.output.dropLast())/a.wav"
        let port = try LoopbackPort.free()
        let worker = try await shop.worker(["RESPOOL_LISTEN": "\(port)", "RESPOOL_CACHE_DIR": cache.path])
        defer { withExtendedLifetime(worker) {} }
        for source in [try shop.source("a.wav", bytes), url, url] {
            try await shop.job(try await shop.push(["source": source, "format": "flac"]), reaches: .completed)
        }
        let q = #"queue="default""#
        let wanted = [
            #"respool_source_bytes_total{\#(q),location="file"} \#(bytes.count)"#,
            #"respool_source_bytes_total{\#(q),location="server"} \#(bytes.count)"#,
            #"respool_cache_lookups_total{\#(q),result="miss"} 1"#,
            #"respool_cache_lookups_total{\#(q),result="hit"} 1"#, "respool_fetch_seconds_count{\(q)} 2",
        ]
        var lines: Set<String> = []
        try await eventually("the sources are counted") {
            let outcome = try await ChildProcess.run("curl", ["-sS", "http://127.0.0.1:\(port)/metrics"])
            lines = Set(outcome.output.split(separator: "\n").map(String.init))
            return lines.isSuperset(of: wanted)
        }
    }

    @Test func `jobs, attempts, waiting times and results are counted by queue`() async throws {
        let shop = try await Workshop(clock: .settable)
        let source = try shop.source("a.wav", Sounds.ramp(samples: 88_200))
        let port = try LoopbackPort.free()
        let waiting = try await shop.push([
            "source": source, "format": "hls", "segment_duration": "1", "output": "a.m3u8",
        ])
        try shop.redis.setClock(seconds: 60)
        let worker = try await shop.worker(["RESPOOL_LISTEN": "\(port)"])
        defer { withExtendedLifetime(worker) {} }
        let done = try await shop.job(waiting, reaches: .completed)
        let picture = try await shop.push(["source": source, "format": "png", "output": "a.png"])
        try await shop.job(picture, reaches: .completed)
        let bad = try await shop.push(["source": try shop.source("b.wav", Array("no audio".utf8)), "format": "mp3"])
        try await shop.job(bad, reaches: .failed)
        // The attempt fails, and another follows in an hour.
        let busy = try await SlowServer()
        let later = try await shop.push(["source": "\(busy.url)/busy", "format": "mp3"])
        try await shop.job(later, reaches: .delayed)
        var lines: Set<String> = []
        try await eventually("the metrics are complete") {
            let outcome = try await ChildProcess.run("curl", ["-sS", "http://127.0.0.1:\(port)/metrics"])
            lines = Set(outcome.output.split(separator: "\n").map(String.init))
            return lines.contains { $0.hasPrefix("respool_retries_total") }
        }
        let q = #"queue="default""#
        for line in [
            #"respool_jobs_total{\#(q),state="completed",code=""} 2"#,
            #"respool_jobs_total{\#(q),state="failed",code="unsupported_format"} 1"#,
            #"respool_attempts_total{\#(q),outcome="completed",code=""} 2"#,
            #"respool_attempts_total{\#(q),outcome="failed",code="unsupported_format"} 1"#,
            #"respool_retries_total{\#(q),code="source_unreachable"} 1"#,
            #"respool_attempt_seconds_count{\#(q),outcome="failed"} 2"#,
            "respool_waiting_seconds_count{\(q)} 4", "respool_conversion_speed_ratio_count{\(q)} 1",
            #"respool_redis_seconds_bucket{\#(q),operation="claim",le="0.0001"} 0"#,
        ] {
            #expect(lines.contains(line), "\(line) in \(lines.sorted())")
        }
        #expect(!lines.contains { $0.hasPrefix("respool_jobs_total") && $0.contains("delayed") })
        // The first job waited for the worker.
        let waits = lines.first { $0.hasPrefix("respool_waiting_seconds_sum") }?.split(separator: " ").last
        #expect((waits.flatMap { Double($0) } ?? 0) >= 60, "\(waits ?? "")")
        #expect(!lines.contains(#"respool_waiting_seconds_bucket{\#(q),le="1"} 4"#))
        let stream = try #require(done.outputs?.first)
        let parts = try #require(stream.parts)
        #expect(parts.bytes > stream.bytes)
        #expect(lines.contains(#"respool_output_bytes_total{\#(q),format="hls"} \#(stream.bytes + parts.bytes)"#))
        for name in [
            "respool_spool_free_bytes", "respool_spool_size_bytes", "process_resident_memory_bytes", "process_open_fds",
        ] {
            let value = lines.first { $0.hasPrefix("\(name) ") }?.split(separator: " ").last.flatMap { Double($0) }
            #expect((value ?? 0) > 4, "\(name) in \(lines.sorted())")
        }
        #expect(lines.contains("# TYPE process_cpu_seconds_total counter"))
        // A picture has bytes, and no audio.
        #expect(lines.contains { $0.hasPrefix(#"respool_output_bytes_total{\#(q),format="png"}"#) })
        #expect(lines.contains { $0.hasPrefix(#"respool_audio_seconds_total{\#(q),format="hls"}"#) })
        #expect(!lines.contains { $0.hasPrefix("respool_audio_seconds_total") && $0.contains("png") })
    }
}
