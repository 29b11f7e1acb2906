import JobSchema
import Testing

@Suite struct FlatObjectTests {
    @Test func `a flat object of ASCII text is read directly`() {
        #expect(
            read(#"{"source":"https://x/a b.flac","format":"mp3"}"#) == [
                "source": "https://x/a b.flac", "format": "mp3",
            ])
        #expect(read(#" { "a" : "" , "b":"{,:}" } "#) == ["a": "", "b": "{,:}"])
        #expect(FlatObject.read(Array("x{\"a\":\"b\"}".utf8)[1...]) == ["a": "b"])
    }

    @Test(arguments: [
        "", "{", "{}", "[]", #"{"a":1}"#, #"{"a":null}"#, #"{"a":{"b":"c"}}"#, #"{"a":"\n"}"#, #"{"a":"ä"}"#,
        #"{"a":"b","a":"c"}"#,
        #"{"a":"b",}"#, #"{"a":"b"} x"#, #"{"a":"b""#, #"{"a":"b"#, #"{"a"}"#, "{\"a\":\"\t\"}", "{\"a\":\"\u{7f}\"}",
        #"{"a":"b"}}"#,
    ])
    func `any other JSON is left to the decoder`(text: String) {
        #expect(read(text) == nil)
    }

    private func read(_ text: String) -> [String: String]? { FlatObject.read(Array(text.utf8)[...]) }
}
