import JobSchema
import MediaTypes
import Testing

@Suite struct TagFieldTests {
    private func spec(_ fields: [String: String]) throws(Failure) -> JobSpec {
        try JobSpec(fields: ["source": "https://x.org/a.flac", "format": "mp3"].merging(fields) { $1 })
    }

    @Test func `tags to set, tag forms and character sets are read by their common names`() throws {
        let spec = try spec([
            "metadata": #"{"title": "Ein Lied", "artist": ["A", "B"], "track": 7, "album": ""}"#, "chapters": "webvtt",
            "tag_encoding": "Windows-1251",
        ])
        let tags = spec.plan.renditions[0].tags
        #expect(tags.metadata == ["title": ["Ein Lied"], "artist": ["A", "B"], "track": ["7"], "album": [""]])
        #expect(tags.chapters == .webvtt)
        #expect(spec.plan.source.tagEncoding == "CP1251")
    }

    @Test(arguments: [
        ("metadata", "[1]", "`metadata` is `[1]`: it must be a JSON object"),
        ("metadata", #"{"a=b": "x"}"#, "`metadata` has the tag name `a=b`"),
        ("metadata", #"{"title": {"x": 1}}"#, "it must be a JSON object of strings"),
        ("chapters", "xml", "`chapters` is `xml`: it must be json or webvtt"),
        ("tag_encoding", "klingon", "`tag_encoding` is `klingon`: it must be one of cp1251"),
    ])
    func `a wrong tag field is named`(_ field: String, _ value: String, _ sentence: String) throws {
        let failure = #expect(throws: Failure.self) { try spec([field: value]) }
        #expect(failure?.message.contains(sentence) == true, "\(failure?.message ?? "")")
    }
}
