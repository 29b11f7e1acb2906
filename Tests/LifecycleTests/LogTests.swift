import Foundation
import Lifecycle
import Testing

@Suite struct LogTests {
    @Test func `writes JSON that keeps every character of message and fields`() throws {
        let log = Log(form: .json).with("job", "1-0").with("attempt", 2)
        let line = log.line(.warning, "a \"quote\"\nand a line", ["source": "https://x.org/ü\u{7}\\"])
        let object = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: String]
        #expect(!line.contains("\n"))
        #expect(object?["level"] == "warning")
        #expect(object?["message"] == "a \"quote\"\nand a line")
        #expect(object?["job"] == "1-0")
        #expect(object?["attempt"] == "2")
        #expect(object?["source"] == "https://x.org/ü\u{7}\\")
        #expect(object?["time"]?.count == 24)
    }

    @Test func `writes text with its fields after the message`() {
        let line = Log(form: .text).with("job", "1-0").line(.info, "claimed", ["phase": "opening"])
        #expect(line.hasSuffix("Z info claimed job=1-0 phase=opening"))
    }

    @Test func `lets no value write a line of its own or steer the terminal`() {
        let line = Log(form: .text).line(.info, "two\nlines", ["name": "a b", "escape": "\u{1b}[2J\u{9b}", "none": ""])
        #expect(line.hasSuffix(#"info "two\nlines" name="a b" escape="\u001b[2J\u009b" none="""#))
    }

    @Test(arguments: Log.Level.allCases)
    func `knows a level by its name`(level: Log.Level) {
        #expect(Log.Level(name: level.name) == level)
        #expect(Log.Level(name: level.name.uppercased()) == nil)
    }

    @Test func `drops what is below the least level, and writes the rest to standard error`() async throws {
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
