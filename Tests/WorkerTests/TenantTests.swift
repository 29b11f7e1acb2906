import Foundation
import Glibc
import Jobs
import TestSupport
import Testing

/// Workers whose children are not shared by everybody's jobs.
@Suite(.failureReport, .timeLimit(.minutes(5))) struct TenantTests {
    @Test(arguments: ["limit_key", "group"])
    func `jobs of two tenants run in different children`(field: String) async throws {
        let shop = try await Workshop()
        let worker = try await shop.worker(["RESPOOL_PAIR_PER": field])
        let source = try shop.source("a.wav", Sounds.ramp(samples: 441))
        var seen: Set<pid_t> = []
        for tenant in ["ann", "ann", "bob", "", "ann"] {
            let id =
                tenant.isEmpty
                ? try await shop.push(["source": source, "format": "flac"])
                : try await shop.push(["source": source, "format": "flac", field: tenant])
            try await shop.job(id, reaches: .completed)
            // Those that are replaced end by themselves, a little later.
            try await eventually("there are at most two pairs") {
                let (transfer, transcode) = (
                    try await worker.children("respool-transfer"), try await worker.children("respool-transcode")
                )
                guard transfer.count == transcode.count, 1...2 ~= transfer.count else { return false }
                seen.formUnion(transfer + transcode)
                return true
            }
        }
        // A slot has two pairs, and there are three tenants, one of which has no name.
        #expect(seen.count >= 6)
    }

    @Test func `a tenant's job goes to the slot whose children served that tenant`() async throws {
        let shop = try await Workshop()
        let worker = try await shop.worker(["RESPOOL_PAIR_PER": "limit_key", "RESPOOL_SLOTS": "2"])
        let source = try shop.source("a.wav", Sounds.ramp(samples: 441))
        let children = Set(try await worker.children("respool-transcode"))
        for number in 0..<6 {
            let id = try await shop.push([
                "source": source, "format": "flac", "limit_key": number % 2 == 0 ? "ann" : "bob",
            ])
            try await shop.job(id, reaches: .completed)
        }
        let last = Set(try await worker.children("respool-transcode"))
        #expect(children.count == 2 && last == children)
    }
}
