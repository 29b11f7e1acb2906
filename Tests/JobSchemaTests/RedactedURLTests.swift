import JobSchema
import Testing

@Suite struct RedactedURLTests {
    @Test(arguments: [
        ("https://h.org/a.flac", "https://h.org/a.flac"),
        ("https://me:secret@h.org/a.flac", "https://h.org/a.flac"),
        ("https://h.org/a?X-Signature=s#t", "https://h.org/a?…"),
        ("https://me:a@b@h.org:8080?q=1", "https://h.org:8080?…"),
        ("https://h.org/a#token", "https://h.org/a?…"),
        ("https://me:sec/ret@h.org/a.flac", "https://…"),
        ("http://[::1]:80/a", "http://[::1]:80/a"),
        ("https://h.org/a@b/c", "https://h.org/a@b/c"),
        ("file:///srv/what?.wav", "file:///srv/what?.wav"),
        ("file://me:secret@h.org/a.wav?sig=s", "file://h.org/a.wav?…"),
        ("not a url", "not a url"),
        ("/srv/what?.wav", "/srv/what?.wav"),
        ("h.org/a.flac?sig=s", "h.org/a.flac?…"),
        ("https:/h.org/a.flac?sig=s", "https:/h.org/a.flac?…"),
        ("me:secret@h.org/a.flac", "h.org/a.flac"),
        ("https:me:secret@h.org/a.flac#t", "h.org/a.flac?…"),
        ("https:/me:secret@h.org/a", "h.org/a"),
        ("//me:secret@h.org/a?sig=s", "//h.org/a?…"), ("///me:secret@h.org/a", "///h.org/a"),
        ("//me:sec/ret@h.org/a", "//h.org/a"), ("//me:sec?ret@h.org/a", "//…"), ("me:sec?ret@h.org/a", "…"),
        ("//srv/music/a.wav", "//srv/music/a.wav"),
        ("//me:secret@h.org/a?next=https://h.org", "//h.org/a?…"), ("me:secret@https://h.org/a", "https://h.org/a"),
    ])
    func `everything that may be a secret is redacted`(url: String, expected: String) {
        #expect(redactedURL(url) == expected)
    }
}
