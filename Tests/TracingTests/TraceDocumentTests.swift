import FoundationEssentials
import JobSchema
import Testing

@testable import Tracing

/// The trace of a job, and its spans as OTLP has them in JSON.
@Suite struct TraceDocumentTests {
    private static let parent = TraceParent("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01")!

    @Test func `all workers derive the same ids from a job, and other jobs have others`() {
        let job = JobTrace(queue: "q", job: "1-0", parent: nil)
        #expect(job == JobTrace(queue: "q", job: "1-0", parent: nil))
        #expect(TraceParent(job.traceParent.text) == job.traceParent)
        let others = [
            JobTrace(queue: "q", job: "1-1", parent: nil), JobTrace(queue: "p", job: "1-0", parent: nil), job,
        ]
        #expect(Set(others.map(\.traceID)).count == 3 && Set(others.map(\.spanID)).count == 3)
        let joined = JobTrace(queue: "q", job: "1-0", parent: Self.parent)
        #expect(joined.traceID == Self.parent.traceID && joined.spanID == job.spanID)
    }

    @Test func `a span is written as OTLP prescribes`() throws {
        let trace = JobTrace(queue: "q", job: "1-0", parent: Self.parent)
        let span = Span(
            "attempt", of: trace, id: "00000000000000ab", parent: trace.spanID, from: 1_795_200_918_742_000_001,
            to: 1, kind: .consumer, attributes: [.text("respool.job", "1-0"), .integer("respool.attempt", 2)],
            failure: Failure(.corruptMedia, "broken"))
        let body = TraceDocument(resource: [.text("service.name", "audio")]).body([span])
        let text = String(decoding: body, as: UTF8.self)
        let expected = #"""
            {"attributes":[{"key":"respool.job","value":{"stringValue":"1-0"}},{"key":"respool.attempt","value":{"intValue":"2"}}],\#
            "endTimeUnixNano":"1795200918742000001","flags":1,"kind":5,"name":"attempt","parentSpanId":"\#(trace.spanID)",\#
            "spanId":"00000000000000ab","startTimeUnixNano":"1795200918742000001",\#
            "status":{"code":2,"message":"broken"},"traceId":"4bf92f3577b34da6a3ce929d0e0e4736"}
            """#
        #expect(text.contains(expected), "\(text)")
        #expect(
            text.hasPrefix(
                #"{"resourceSpans":[{"resource":{"attributes":[{"key":"service.name","value":{"stringValue":"audio"}}]},"scopeSpans":[{"scope":{"name":"respool","#
            ))
    }

    @Test func `ids of spans are 16 digits, and never zero`() {
        for _ in 0..<1000 {
            let id = Span.randomID()
            #expect(id.utf8.count == 16 && UInt64(id, radix: 16) ?? 0 > 0)
        }
    }
}
