import Testing

@testable import respool

@Suite struct SourceAddressTests {
    @Test(arguments: [
        ("https://x.org/a b", "https://x.org/a b"), ("/a/b.wav", "file:///a/b.wav"),
        ("/a//./b c#?.wav", "file:///a/b%20c%23%3F.wav"),
        ("/é/100%.wav", "file:///%C3%A9/100%25.wav"), ("file:///a", "file:///a"), ("/a/../b", "file:///a/../b"),
    ])
    func `a path becomes a URL, and a URL stays as it is`(text: String, url: String) throws {
        #expect(try SourceAddress.url(text) == url)
    }

    @Test func `a relative path starts at the current folder`() throws {
        let url = try SourceAddress.url("some file.wav")
        #expect(url.hasPrefix("file:///"))
        #expect(url.hasSuffix("/some%20file.wav"))
    }

    @Test(arguments: [
        ("https://x.org/dir/a%20b.flac?sig=1", "a b.flac"), ("file:///tmp/%C3%A9.wav", "é.wav"),
        ("https://x.org", "x.org"), ("https://me:secret@x.org?sig=1", "x.org"),
        ("a%zz.wav", "a%zz.wav"), ("file:///a/%1b%5b2J.wav", #"\u001b[2J.wav"#),
    ])
    func `a source is named after its last path component`(url: String, name: String) {
        #expect(SourceAddress.name(url) == name)
    }

    @Test func `an empty path is refused`() {
        #expect(throws: CommandFailure.self) { try SourceAddress.url("") }
    }
}
