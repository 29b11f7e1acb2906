import JobSchema
import MediaTypes
import Testing

@Suite struct SourceFieldTests {
    @Test func `the drc field is a number from 0 to 1, with 1 as its default`() throws {
        for (text, scale) in [("0", 0), ("0.5", 0.5), ("1", 1)] as [(String, Double)] {
            #expect(try drc(text) == scale)
        }
        let plain = try JobSpec(fields: ["source": "https://x.org/a.ac3", "format": "mp3"])
        #expect(plain.plan.source.drc == nil)
    }

    @Test(arguments: ["-0.1", "1.1", "nan", "off", ""])
    func `a drc that is no such number is refused by name`(_ text: String) {
        let failure = #expect(throws: Failure.self) { try drc(text) }
        #expect(failure?.message.hasPrefix("`drc` is `\(text)`: it must be a number from 0") == true)
    }

    @Test func `the threads field is auto or a number from 1 to 64`() throws {
        for (text, count) in [("auto", nil), ("1", 1), ("64", 64)] as [(String, Int?)] {
            #expect(try threads(text) == count)
        }
        for text in ["0", "65", "two", ""] {
            let failure = #expect(throws: Failure.self) { try threads(text) }
            #expect(failure?.message == "`threads` is `\(text)`: it must be auto, or a whole number from 1 to 64")
        }
    }

    @Test(arguments: [
        ("https://x.org/a.ac3 ", "https://x.org/a.ac3"), ("\n\t sftp://x.org/a b.ac3\r\n", "sftp://x.org/a b.ac3"),
        ("s3://bucket/a ", "s3://bucket/a "), ("file:///a ", "file:///a "),
    ])
    func `blanks around the URL of a server do not count`(_ text: String, _ url: String) throws {
        #expect(try JobSpec(fields: ["source": text, "format": "mp3"]).sourceURL == url)
    }

    @Test func `a source of blanks is refused`() throws {
        #expect(throws: Failure.self) { try JobSpec(fields: ["source": " \n ", "format": "mp3"]) }
    }

    private func threads(_ text: String) throws -> Int? {
        try JobSpec(fields: ["source": "https://x.org/a.ac3", "format": "mp3", "threads": text]).plan.threads
    }

    private func drc(_ text: String) throws -> Double? {
        try JobSpec(fields: ["source": "https://x.org/a.ac3", "format": "mp3", "drc": text]).plan.source.drc
    }
}
