import JobSchema
import SlotIPC
import Testing

/// The lines by which an operator gives credentials to the servers that they are for.
@Suite struct CredentialTests {
    @Test(
        arguments: [
            ("a media.example.org basic me:se cret", "authorization: Basic bWU6c2UgY3JldA=="),
            ("a MEDIA.example.org bearer x.y-z", "authorization: Bearer x.y-z"),
            ("a *.example.org header X-Key: one two ", "X-Key: one two"),
            ("a http://other.org,https://media.example.org:443 bearer x", "authorization: Bearer x"),
        ])
    func `a credential is read with the headers that it sends`(line: String, header: String) throws {
        let credential = try #require(try Credential.all(in: "# first\n\n" + line, of: "a test").first)
        #expect(credential.name == "a" && credential.header == header)
        #expect(credential.isFor(scheme: "https", host: "media.example.org", port: 443))
    }

    @Test(
        arguments: [
            ("https", "media.example.org", 443, true), ("https", "Media.Example.Org", 443, true),
            ("http", "media.example.org", 80, false), ("http", "media.example.org", 443, false),
            ("https", "media.example.org", 8443, false), ("https", "a.cdn.org", 443, true),
            ("https", "a.b.cdn.org", 443, true), ("https", "cdn.org", 443, false), ("https", "evilcdn.org", 443, false),
            ("https", "media.example.org.evil.org", 443, false), ("http", "10.0.0.1", 8080, true),
            ("http", "10.0.0.1", 80, false), ("https", "::1", 443, true),
        ])
    func `a credential is for its servers only`(scheme: String, host: String, port: Int, isRight: Bool) throws {
        let line = "a media.example.org,*.cdn.org,http://10.0.0.1:8080,[::1] bearer x"
        let credential = try #require(try Credential.all(in: line, of: "a test").first)
        #expect(credential.isFor(scheme: scheme, host: host, port: port) == isRight)
    }

    @Test(
        arguments: [
            "a", "a host bearer", "a host basic planted", "a host digest planted:x", "a ho/st bearer planted",
            "a ftp://host bearer planted", "a https:/host bearer planted",
            "a host:0 bearer planted", "a host, bearer planted", "a,b host bearer planted", "a host bearer planted x",
            "a host header planted", "a host header pla nted: x", "a host header X-Key:", "a * bearer planted",
            "a host bearer planted\na host bearer x",
        ])
    func `a malformed line is refused, and nothing of it is shown`(line: String) {
        let failure = #expect(throws: Failure.self) { try Credential.all(in: "\n" + line, of: "the file 'f'") }
        #expect(failure?.message.contains("of the file 'f'") == true)
        #expect(failure?.message.contains("planted") == false)
    }
}
