import Configuration
import JobSchema
import Lifecycle
import TestSupport
import Testing

@testable import respool

@Suite(.failureReport, .timeLimit(.minutes(5))) struct HelpTests {
    private let respool = RespoolProcess()

    @Test(arguments: Command.all.map(\.name))
    func `the help of every command is made from its table`(name: String) async throws {
        let command = try #require(Command.named(name))
        let outcome = try await respool.run(name, "--help")
        #expect(outcome.exitCode == 0)
        #expect(outcome.errors == "")
        #expect(outcome.lines[0].hasPrefix("Usage: respool \(name)"))
        for option in command.options {
            #expect(outcome.output.contains("--\(option.name)"))
            for alias in option.aliases { #expect(outcome.output.contains("--\(alias)")) }
            if let setting = option.setting { #expect(outcome.output.contains(setting.name)) }
        }
        #expect(outcome.lines.allSatisfy { $0.count <= 80 || $0.contains("respool enqueue") })
        #expect(try await respool.run("help", name).output == outcome.output)
    }

    @Test func `every field of a job has a flag`() async throws {
        let output = try await respool.run("enqueue", "--help").output
        for field in JobField.all where field.name != "source" {
            #expect(output.contains("  --\(field.flag) \(field.placeholder)") || output.contains("-f, --\(field.flag)"))
            let first = field.summary.split(separator: " ")[0]
            #expect(output.contains(first))
        }
    }

    @Test func `the help lists every command with its summary`() async throws {
        let outcome = try await respool.run("--help")
        #expect(outcome.exitCode == 0)
        for command in Command.all {
            #expect(outcome.output.contains("\n  \(command.name) "))
            #expect(!command.summary.isEmpty)
        }
    }

    @Test func `no two options of a command share a name or a letter`() {
        for command in Command.all {
            let names = command.options.flatMap { [$0.name] + $0.aliases }
            #expect(Set(names).count == names.count)
            let letters = command.options.compactMap(\.letter)
            #expect(Set(letters).count == letters.count)
            #expect(!command.options.contains { $0.isRepeatable && $0.placeholder == nil })
        }
    }

    @Test func `the command prints its version`() async throws {
        #expect(try await respool.run("--version").output == "respool \(respoolVersion)\n")
    }

    @Test func `the manual page has every command and option`() async throws {
        let page = try await respool.run("man").output
        #expect(page.hasPrefix(".TH RESPOOL 1"))
        for command in Command.all { #expect(page.contains(".SS \(command.name)\n")) }
        for option in Command.enqueue.options {
            #expect(page.contains("\\-\\-\(option.name.split(separator: "-").joined(separator: "\\-"))"))
        }
    }

    @Test(arguments: [
        (words: "respool sta", expected: "status"), ("respool status --wa", "--watch"),
        ("respool jobs --state ca", "cancelled"), ("respool enqueue --format op", "opus"),
        ("respool completions z", "zsh"), ("respool enqueue --sample-f", "--sample-format"),
    ])
    func `bash completes every word`(words: String, expected: String) async throws {
        let script = """
            source <("$0" completions bash)
            COMP_WORDS=(\(words)); COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); _respool; echo "${COMPREPLY[@]}"
            """
        let outcome = try await ChildProcess.run("bash", ["-c", script, Programs.path("respool")])
        #expect(outcome.output == "\(expected)\n")
        #expect(outcome.errors == "")
    }
}
