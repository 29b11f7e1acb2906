import JobSchema
import Jobs
import MediaTypes
import Redis
import TestSupport
import Testing

/// Publication with replicas: a result becomes visible once they have heard of it.
@Suite(.failureReport, .timeLimit(.minutes(5))) struct ReplicaTests {
    @Test func `a result stays hidden until a replica has acknowledged its publication`() async throws {
        let port = try LoopbackPort.free()
        let shop = try await Workshop(ReplicatedServer.options(port: port))
        let servers = try await ReplicatedServer(of: shop.redis, port: port)
        let worker = try await shop.worker(["RESPOOL_WAIT_REPLICAS": "1", "RESPOOL_WAIT_TIMEOUT": "0.2"])
        servers.replica.freeze()
        let source = try shop.source("a.wav", Sounds.ramp(samples: 4410))
        let id = try await shop.push(["source": source, "format": "mp3"])
        try await worker.logs("0 of 1 replica")
        #expect(shop.outputs.filter { !$0.hasPrefix(".") } == [])
        #expect(try await shop.job(id)?.phase == .publishing)
        // Over a connection of its own, so that beats go on.
        try await eventually("a publication waits") {
            let lines = try await shop.client.send(["CLIENT", "LIST"]).string?.split(separator: "\n") ?? []
            return lines.filter { $0.contains("cmd=wait") }.allSatisfy { $0.contains("name=respool-publish") }
                && lines.contains { $0.contains("cmd=wait") }
        }
        servers.replica.thaw()
        try await shop.job(id, reaches: .completed)
        #expect(shop.outputs == ["\(id).mp3"])
        withExtendedLifetime(worker) {}
    }
}
