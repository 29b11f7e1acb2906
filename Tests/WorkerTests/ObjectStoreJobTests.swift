import Foundation
import Glibc
import JobSchema
import Jobs
import Redis
import TestSupport
import Testing

/// Jobs whose source and result are in a bucket, by a real worker.
@Suite(.failureReport, .timeLimit(.minutes(5))) struct ObjectStoreJobTests {
    private let store = ObjectStore.shared

    private func environment() async throws -> [String: String] {
        [
            "AWS_ACCESS_KEY_ID": ObjectStore.keys.identifier, "AWS_SECRET_ACCESS_KEY": ObjectStore.keys.secret,
            "AWS_REGION": "eu-central-1", "AWS_ENDPOINT_URL_S3": try await store.endpoint,
            "RESPOOL_S3_STORAGE_CLASS": "STANDARD_IA",
        ]
    }

    @Test func `a job converts from one bucket into another, and shows no key`() async throws {
        let shop = try await Workshop()
        try await store.seed("music-in", "a b.wav", Sounds.ramp(samples: 44_100))
        let worker = try await shop.worker(try await environment())
        let id = try await shop.push([
            "source": "s3://music-in/a b.wav", "format": "flac", "output": "s3://music-out/x/",
        ])
        let job = try await shop.job(id, reaches: .completed)
        let output = try #require(job.outputs?.first)
        let object = try #require(try await store.content("music-out").objects["x/\(id).flac"])
        #expect(output.url == "s3://music-out/x/\(id).flac")
        #expect(output.sha256 == object.sha256 && output.etag == object.etag && Int(output.bytes) == object.size)
        #expect(object.storage == "STANDARD_IA")
        #expect(!worker.errors.contains(ObjectStore.keys.secret))
        _ = try await shop.client.send(["CONFIG", "SET", "rdbcompression", "no"])
        let keys = try await shop.client.send(["KEYS", "*"]).array ?? []
        var isSeen = false
        for key in keys {
            let dump = try await shop.client.send(["DUMP", .text(key.string ?? "")]).bytes ?? []
            let text = String(decoding: dump, as: UTF8.self)
            #expect(!text.contains(ObjectStore.keys.secret), "\(key)")
            if text.contains("s3://music-in") { isSeen = true }
        }
        #expect(isSeen)
    }

    @Test func `a slot converts the next job while a result is uploaded`() async throws {
        let shop = try await Workshop()
        try await store.spoil("held", "PUT_.*partNumber=2& 1 hang")
        let worker = try await shop.worker(try await environment())
        let first = try await shop.push([
            "source": try shop.source("long.wav", Sounds.ramp(samples: 6_000_000)), "format": "wav",
            "output": "s3://held/a.wav",
        ])
        try await eventually("the upload is begun") {
            try await store.requests("held").contains { $0.contains("partNumber=1&") }
        }
        let second = try await shop.push([
            "source": try shop.source("short.wav", Sounds.ramp(samples: 44_100)), "format": "flac",
        ])
        try await shop.job(second, reaches: .completed)
        #expect(try await shop.job(first)?.state == .running, "\(worker.errors)")
        // What becomes of an upload that hangs is the business of another test, and takes as long as its timeout.
        #expect(try await shop.queue.cancel([first]) == [.requested])
        try await shop.job(first, reaches: .cancelled)
    }

    @Test(arguments: ["cancel", "respool-transfer", "respool-transcode"])
    func `an upload is aborted when its job is cancelled or a child is killed`(what: String) async throws {
        let shop = try await Workshop()
        let bucket = "broken-\(what)"
        try await store.spoil(bucket, "PUT_.*partNumber=2& 1 hang")
        let source = try shop.source("long.wav", Sounds.ramp(samples: 6_000_000))
        let worker = try await shop.worker(try await environment())
        let id = try await shop.push(["source": source, "format": "wav", "output": "s3://\(bucket)/a.wav"])
        try await eventually("the upload is begun") {
            try await store.requests(bucket).contains { $0.contains("partNumber=1&") }
        }
        if what == "cancel" {
            #expect(try await shop.queue.cancel([id]) == [.requested])
            try await shop.job(id, reaches: .cancelled)
        } else {
            for child in try await worker.children(what) { kill(child, SIGKILL) }
            let job = try await shop.job(id, reaches: .completed)
            #expect(job.crashes == 1)
        }
        try await eventually("nothing is left") {
            let content = try await store.content(bucket)
            return content.uploads == [] && content.objects.count == (what == "cancel" ? 0 : 1)
        }
        withExtendedLifetime(worker) {}
    }

    @Test func `the unfinished upload of a failed job is removed when it is retried`() async throws {
        let shop = try await Workshop()
        // The store began an upload and its answer was lost; then it refuses another.
        try await store.spoil("retried-by-hand", "POST.*uploads= 1 lost", "POST.*uploads= 1 403")
        let source = try shop.source("long.wav", Sounds.ramp(samples: 6_000_000))
        let worker = try await shop.worker(try await environment())
        let id = try await shop.push(["source": source, "format": "wav", "output": "s3://retried-by-hand/a.wav"])
        #expect(try await shop.job(id, reaches: .failed).attempt == 1)
        #expect(try await store.content("retried-by-hand").uploads == ["a.wav"])
        #expect(try await shop.queue.retry([id]) == [.retried])
        #expect(try await shop.job(id, reaches: .completed).attempt == 1)
        let content = try await store.content("retried-by-hand")
        #expect(content.uploads == [] && content.objects.count == 1)
        withExtendedLifetime(worker) {}
    }

    @Test func `the keys of a container's role open what a job names`() async throws {
        let shop = try await Workshop()
        let server = try await RoleServer(lifetime: 3600)
        try await store.seed("role-in", "a.wav", Sounds.ramp(samples: 4410))
        var environment = try await environment()
        environment["AWS_ACCESS_KEY_ID"] = nil
        environment["AWS_SECRET_ACCESS_KEY"] = nil
        environment["AWS_CONTAINER_CREDENTIALS_FULL_URI"] = server.url + "/container"
        environment["AWS_CONTAINER_AUTHORIZATION_TOKEN"] = RoleServer.containerToken
        let worker = try await shop.worker(environment)
        let id = try await shop.push(["source": "s3://role-in/a.wav", "format": "flac", "output": "s3://role-out/"])
        let job = try await shop.job(id, reaches: .completed)
        #expect(try await store.content("role-out").objects["\(id).flac"]?.etag == job.outputs?.first?.etag)
        #expect(!worker.errors.contains(RoleServer.containerToken))
    }

    @Test func `an incomplete pair of keys fails the jobs that need it, and no other`() async throws {
        let shop = try await Workshop()
        var environment = try await environment()
        environment["AWS_SECRET_ACCESS_KEY"] = nil
        let worker = try await shop.worker(environment)
        let source = try shop.source("a.wav", Sounds.ramp(samples: 4410))
        let denied = try await shop.push([
            "source": source, "format": "flac", "output": "s3://half-keys/a.flac", "attempts": "1",
        ])
        let error = try #require(try await shop.job(denied, reaches: .failed).error)
        #expect(error.code == .outputDenied && error.message.contains("AWS_ACCESS_KEY_ID alone"), "\(error)")
        try await shop.job(try await shop.push(["source": source, "format": "flac"]), reaches: .completed)
        #expect(worker.errors.split(separator: "\n").count { $0.contains("until then") } == 1)
    }

    @Test(arguments: [
        ("AWS_CONTAINER_CREDENTIALS_FULL_URI", "http://10.0.0.1/keys"),
        ("AWS_CONTAINER_CREDENTIALS_FULL_URI", "http://127.0.0.1:80@10.0.0.1/keys"),
        ("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI", "keys"), ("AWS_EC2_METADATA_SERVICE_ENDPOINT", "169.254.169.254"),
    ])
    func `keys of a role are requested over TLS, or from this machine and its service only`(
        variable: String, value: String
    ) async throws {
        let shop = try await Workshop()
        let settings = [variable: value, "AWS_EC2_METADATA_DISABLED": "false"]
        let outcome = try await ChildProcess.run(
            Programs.path("respoold"), ["worker"], environment: shop.environment.merging(settings) { $1 })
        #expect(outcome.exitCode == 2 && outcome.errors.contains("\(variable) is '"), "\(outcome.errors)")
    }
}
