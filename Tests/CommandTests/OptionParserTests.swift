import Configuration
import Testing

@testable import respool

@Suite struct OptionParserTests {
    private let parser = OptionParser(options: [
        Option("format", letter: "f", aliases: ["to"], value: "FORMAT", ""), Option("wait", letter: "w", ""),
        Option("watch", ""), Option("root", value: "DIR", "", isRepeatable: true),
    ])

    @Test func `options are read before, among and behind operands`() throws {
        let arguments = try parser.parse(["a", "--format", "mp3", "b", "-w", "--", "--wait", "-"])
        #expect(arguments.operands == ["a", "b", "--wait", "-"])
        #expect(arguments.value(parser.options[0]) == "mp3")
        #expect(arguments.has(parser.options[1]))
        #expect(!arguments.has(parser.options[2]))
    }

    @Test(arguments: [
        ["--format=x=y"], ["--to", "x=y"], ["-fx=y"], ["-f", "x=y"], ["-wf", "x=y"], ["--fo", "x=y"],
        ["-f", "a", "--to=x=y"],
    ])
    func `a value is accepted in each form that GNU programs accept`(words: [String]) throws {
        #expect(try parser.parse(words).value(parser.options[0]) == "x=y")
    }

    @Test func `a repeated option keeps every value`() throws {
        #expect(try parser.parse(["--root", "", "--root=-1"]).given(parser.options[3]) == ["", "-1"])
    }

    @Test func `a double dash ends the options`() throws {
        let parser = OptionParser(options: [.help], stopsAtOperand: true)
        #expect(try parser.parse(["status", "--help"]).operands == ["status", "--help"])
    }

    @Test(arguments: [
        (["--formt", "x"], "unknown option '--formt': did you mean --format?"),
        (["--zzzzzz=1"], "unknown option '--zzzzzz'"),
        (["-x"], "unknown option '-x'"), (["-wx"], "unknown option '-x'"),
        (["--root"], "--root requires a value: write --root DIR"),
        (["a", "-f"], "-f requires a value: write --format FORMAT"),
        (["--wait=1"], "--wait takes no value: leave out '='"),
        (["--wa"], "'--wa' is ambiguous: write --wait or --watch"),
    ])
    func `a wrong option is explained`(words: [String], sentence: String) {
        let failure = #expect(throws: CommandFailure.self) { _ = try parser.parse(words) }
        #expect(failure?.message == sentence)
        #expect(failure?.status == .usage)
    }

    @Test func `a flag takes precedence over its environment variable`() throws {
        // PATH is set wherever tests run, and nothing here changes the environment.
        let form = Settings.outputRoot.form
        let setting = EnvironmentSetting("PATH", form, "", default: .otherwise("none"), for: .worker)
        let option = Option("folders", value: "DIR", "", setting: setting)
        let parser = OptionParser(options: [option])
        #expect(try parser.parse([]).value(option)?.contains("/") == true)
        #expect(try parser.parse(["--folders", "here"]).value(option) == "here")
    }
}
