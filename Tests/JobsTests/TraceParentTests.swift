import JobSchema
import Jobs
import MediaTypes
import Redis
import TestSupport
import Testing

/// The field `traceparent` on its way through the queue.
@Suite(.failureReport, .timeLimit(.minutes(5))) struct TraceParentTests {
    private static let parent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-03"

    /// The `traceparent` of the events of a job.
    private func parents(_ id: String, _ fixture: QueueFixture) async throws -> [String: String?] {
        let entries = try await fixture.client.send(["XRANGE", .text(fixture.queue.keys.events), "-", "+"])
        return (entries.array ?? []).reduce(into: [:]) { found, entry in
            let words = (entry.array?.last?.array ?? []).compactMap(\.string)
            let fields = Dictionary(
                uniqueKeysWithValues: stride(from: 0, to: words.count, by: 2).map { (words[$0], words[$0 + 1]) })
            guard fields["id"] == id else { return }
            found["\(fields["state"]!) \(fields["phase"] ?? "")"] = .some(fields["traceparent"])
        }
    }

    @Test(arguments: [nil, "g"]) func `each event of a job and its record name its trace`(group: String?) async throws {
        try await QueueFixture.run { fixture in
            let fields = ["traceparent": Self.parent].merging(group.map { ["group": $0] } ?? [:]) { $1 }
            for isPushed in [true, false] {
                let id = isPushed ? try await fixture.push(fields) : try await fixture.enqueue(fields)
                try await fixture.queue.runMaintenance()
                let job = try await fixture.claimOne()
                #expect(job.fields["traceparent"] == Self.parent)
                _ = try await fixture.beat([job], progress: Progress(phase: .converting, fraction: 0.5))
                _ = try await fixture.queue.publish(id: id, token: job.token, record: QueueFixture.commit)
                _ = try await fixture.finish(job, .completed([QueueFixture.report]))
                let parents = try await parents(id, fixture)
                #expect(
                    Set(parents.keys) == [
                        "waiting ", "running ", "running converting", "running publishing", "completed ",
                    ])
                #expect(parents.values.allSatisfy { $0 == Self.parent }, "\(parents)")
                #expect(try await fixture.record(id).traceParent == Self.parent)
            }
        }
    }

    @Test func `a retry replaces the trace`() async throws {
        try await QueueFixture.run { fixture in
            let id = try await fixture.enqueue(["traceparent": Self.parent])
            _ = try await fixture.queue.cancel([id])
            let other = Self.parent.replacing("4bf9", with: "aaaa")
            #expect(try await fixture.queue.retry([id], changes: ["traceparent": other]) == [.retried])
            #expect(try await parents(id, fixture)["waiting "] == other)
            _ = try await fixture.queue.cancel([id])
            #expect(try await fixture.queue.retry([id], changes: ["traceparent": ""]) == [.retried])
            #expect(try await parents(id, fixture)["waiting "] == .some(nil))
            #expect(try await fixture.record(id).traceParent == nil)
        }
    }

    @Test func `the scripts do not use what Swift refuses`() async throws {
        try await QueueFixture.run { fixture in
            for wrong in [
                "", "00-1-2-01", Self.parent.uppercased(), Self.parent + "0",
                "00-\(String(repeating: "0", count: 32))-00f067aa0ba902b7-01",
            ] {
                let id = try await fixture.push(["traceparent": wrong])
                let job = try await fixture.claimOne()
                #expect(job.id == id && job.unusable == ["traceparent"])
                let error = #expect(throws: Failure.self) { try JobSpec(fields: job.fields) }
                #expect(error?.code == .invalidRequest && error?.message.contains(TraceParent.rule) == true, "\(wrong)")
                #expect(TraceParent(wrong) == nil)
            }
        }
    }
}
