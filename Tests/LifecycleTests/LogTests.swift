import Foundation
import Lifecycle
import Testing
import Text

@Suite struct LogTests {
    @Test func `a JSON line keeps every character of message and fields`() throws {
        let log = Log(form: .json).with("job", "1-0").with("attempt", 2)
        let line = log.line(
            .warning, "a \"quote\"\nand a line",
            ["source": "https://x.org/ü\u{7}\\", "seconds": Duration.seconds(2.54)])
        let object = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
        #expect(!line.contains("\n"))
        #expect(object?["level"] as? String == "warning")
        #expect(object?["message"] as? String == "a \"quote\"\nand a line")
        #expect(object?["job"] as? String == "1-0")
        #expect(line.contains(#","attempt":2,"#) && line.hasSuffix(#","seconds":2.5}"#))
        #expect(object?["source"] as? String == "https://x.org/ü\u{7}\\")
        #expect((object?["time"] as? String)?.count == 24)
    }

    @Test func `a line of text has its fields after the message`() {
        let line = Log(form: .text).with("job", "1-0").with("attempt", 2)
            .line(.info, "claimed", ["phase": "opening", "grace": Duration.seconds(25)])
        #expect(line.hasSuffix("Z info claimed job=1-0 attempt=2 phase=opening grace=25"))
    }

    @Test func `no value writes a line or steers the terminal`() {
        let line = Log(form: .text).line(.info, "two\nlines", ["name": "a b", "escape": "\u{1b}[2J\u{9b}", "none": ""])
        #expect(line.hasSuffix(#"info "two\nlines" name="a b" escape="\u001b[2J\u009b" none="""#))
    }

    /// What ends lines, steers terminals or turns the direction of writing; each also within a name.
    @Test(
        arguments: Array(0...0x1f) + Array(0x7f...0x9f) + Array(0x2028...0x202e) + Array(0x2066...0x2069) + [
            0x200e, 0x200f, 0x61c,
        ])
    func `controls are escaped in every form, and JSON stays as it was`(value: Int) throws {
        let scalar = try #require(Unicode.Scalar(UInt32(value)))
        let name = "a\(scalar)b"
        let digits = String(value, radix: 16)
        let escape = "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
        #expect(PrintableText.escaped(name) == "a\(escape)b")
        for form in [Log.Form.text, .json] {
            let line = Log(form: form).with("name", name).line(.info, name)
            #expect(!line.unicodeScalars.contains(scalar), "\(form)")
        }
        let json = String(decoding: try JSONEncoder().encode([name]), as: UTF8.self)
        let escaped = PrintableText.escaped(json: json)
        #expect(!escaped.unicodeScalars.contains(scalar))
        #expect(try JSONDecoder().decode([String].self, from: Data(escaped.utf8)) == [name])
    }

    @Test(arguments: Log.Level.allCases)
    func `a level is found by its name`(level: Log.Level) {
        #expect(Log.Level(name: level.name) == level)
        #expect(Log.Level(name: level.name.uppercased()) == nil)
    }

    @Test func `lines below the minimum level are dropped, and others go to standard error`() async throws {
        let result = try #require(
            await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
                let log = Log(form: .text, least: .warning)
                log.info("not this")
                log.warning("but this")
            })
        let written = String(decoding: result.standardErrorContent, as: UTF8.self)
        #expect(written.contains("warning but this\n"))
        #expect(!written.contains("not this"))
    }
}
