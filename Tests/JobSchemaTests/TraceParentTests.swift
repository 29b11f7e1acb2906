import JobSchema
import Testing

/// Values of the header `traceparent`, with the examples of W3C Trace Context.
@Suite struct TraceParentTests {
    private static let trace = "4bf92f3577b34da6a3ce929d0e0e4736"
    private static let span = "00f067aa0ba902b7"

    @Test(arguments: ["00", "01", "03", "fe", "ff"])
    func `a value is read and written as it was`(flags: String) throws {
        let text = "00-\(Self.trace)-\(Self.span)-\(flags)"
        let parent = try #require(TraceParent(text))
        #expect(parent.traceID == Self.trace && parent.spanID == Self.span && parent.text == text)
        #expect(parent.isSampled == ["01", "03", "ff"].contains(flags))
    }

    /// Wrong values, which the queue's scripts refuse too.
    static let wrong = [
        "", "-", "00", "00-\(trace)-\(span)", "00-\(trace)-\(span)-1", "00-\(trace)-\(span)-01-",
        "01-\(trace)-\(span)-01",
        "00-\(trace.uppercased())-\(span)-01", "00-\(trace)-\(span)-0A", "00-\(trace)0-\(span)-01",
        "00-\(trace.dropLast())-\(span)-01", "00-\(trace)-\(span)0-01", "00-\(trace)-\(span.dropLast())-01",
        "00-00000000000000000000000000000000-\(span)-01", "00-\(trace)-0000000000000000-01",
        "00-\(trace.dropLast())g-\(span)-01", " 00-\(trace)-\(span)-01", "00-\(trace)-\(span)-01\n",
    ]

    @Test(arguments: wrong) func `any other form is no value`(text: String) {
        #expect(TraceParent(text) == nil)
    }
}
