import FoundationEssentials
import Redis
import TestSupport
import Testing

/// Nothing is used that Redis 6.2 lacks: each command, and each of its options, is held against what the server tells of it.
@Suite(.failureReport, .timeLimit(.minutes(5))) struct CommandVersionTests {
    @Test func `the commands and options in use all exist in Redis 6_2`() async throws {
        let server = try await RedisServer()
        let lines = try Self.lines(ofFilesEndingWith: "")
        let words = Self.words(lines)
        #expect(words.isSuperset(of: ["XREADGROUP", "ZADD", "EVALSHA", "NOACK", "MAXLEN", "CLUSTER", "SLOTS"]))
        let info = try await server.info("INFO", "server")
        let version = info.split(separator: "redis_version:").last.map { String($0.prefix { !$0.isNewline }) }
        // A server of 6.2 tells nothing of its commands, and shows it by running the other tests.
        guard let version, Self.number(version) >= 70_000 else { return }
        let script = RedisScript(name: "docs", source: Array(Self.documentation.utf8))
        var commands = 0
        for word in words.sorted() {
            let facts = try await server.client().run(script, keys: [], arguments: [.text(word)])
            let texts = (facts.array ?? []).compactMap(\.string)
            guard let since = texts.first else { continue }
            commands += 1
            #expect(Self.number(since) <= 60_200, "\(word) came with \(since)")
            for index in stride(from: 1, to: texts.count - 1, by: 2) where Self.number(texts[index + 1]) > 60_200 {
                let uses = lines.filter { Self.quotes(word, $0) && Self.quotes(texts[index], $0) }
                #expect(uses == [], "\(word) \(texts[index]) came with \(texts[index + 1])")
            }
        }
        #expect(commands > 30)
    }

    @Test func `the scripts use nothing of Lua that came after Redis 6_2`() throws {
        let known: Set<String> = ["call", "pcall", "error_reply", "status_reply", "sha1hex", "log"]
        for line in try Self.lines(ofFilesEndingWith: ".lua") {
            for part in line.split(separator: "redis.", omittingEmptySubsequences: false).dropFirst() {
                let name = part.prefix { $0.isLetter || $0 == "_" || $0.isNumber }
                #expect(known.contains(String(name)), "\(line)")
            }
        }
    }

    /// Since when there is a command, then its options and since when there are those; nothing of what is no command.
    private static let documentation = """
        local function map(list)
          local found = {}
          for i = 1, #list, 2 do found[list[i]] = list[i + 1] end
          return found
        end
        local facts = redis.call('COMMAND', 'DOCS', ARGV[1])[2]
        if not facts then return {} end
        local command = map(facts)
        local answer = { command.since }
        local function walk(arguments)
          for _, argument in ipairs(arguments or {}) do
            argument = map(argument)
            if argument.token and argument.since then
              answer[#answer + 1] = string.upper(argument.token)
              answer[#answer + 1] = argument.since
            end
            walk(argument.arguments)
          end
        end
        walk(command.arguments)
        return answer
        """

    /// All words in capitals between quotes.
    private static func words(_ lines: [String]) -> Set<String> {
        var words: Set<String> = []
        for line in lines {
            for quoted in line.split(whereSeparator: { $0 == "'" || $0 == "\"" })
            where quoted.count > 1 && quoted.allSatisfy({ $0.isASCII && $0.isUppercase }) {
                words.insert(String(quoted))
            }
        }
        return words
    }

    private static func quotes(_ word: String, _ line: String) -> Bool {
        line.contains("'\(word)'") || line.contains("\"\(word)\"")
    }

    /// The lines of the scripts, and of the code that sends commands.
    private static func lines(ofFilesEndingWith ending: String) throws -> [String] {
        let sources = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../Sources").path
        var lines: [String] = []
        for folder in ["Jobs", "Jobs/Schedules", "Jobs/Scripts", "Redis"].map({ "\(sources)/\($0)" }) {
            for name in try FileManager.default.contentsOfDirectory(atPath: folder) where name.hasSuffix(ending) {
                let data = FileManager.default.contents(atPath: "\(folder)/\(name)") ?? Data()
                lines += String(decoding: data, as: UTF8.self).split(separator: "\n").map(String.init)
            }
        }
        return lines
    }

    /// `6.2.14` as a number that compares.
    private static func number(_ version: String) -> Int {
        version.split(separator: ".").prefix(3).reduce(0) { $0 * 100 + (Int($1) ?? 0) }
    }
}
