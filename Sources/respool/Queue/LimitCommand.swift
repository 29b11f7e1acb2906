import Jobs
import SlotProtocol

extension Command {
    static let limit = Command(
        "limit", usages: ["[KEY]", "KEY N|off", "--default N|off"],
        "sets or shows how many jobs of one limit_key run at once, over all workers",
        details: [
            "Jobs that find no place wait until one of their key ends; 0 lets none start. The default holds for keys that have "
                + "no number of their own."
        ],
        options: [LimitOptions.fallback, .json, .queue, .redis],
        examples: [
            .init(line: "respool limit archive.org 2", meaning: "two jobs with `limit_key` archive.org at once"),
            .init(line: "respool limit", meaning: "every key that has a number, what runs and what waits for it"),
        ],
        operands: 0...2
    ) { arguments throws(CommandFailure) in
        let connection = try QueueConnection(arguments)
        let operands = arguments.operands
        if let key = operands.first, !KeyName.isValid(key, atMost: 128, also: ":@") {
            throw .usage("'\(key)' is no key: a limit_key is 1 to 128 of A-Z a-z 0-9 _ . : @ -")
        }
        if let text = arguments.value(LimitOptions.fallback) {
            if let key = operands.first { throw .usage("'\(key)' stands beside --default: give a key or --default") }
            let number = try LimitOptions.number(text)
            try await connection.ask { queue throws(QueueError) in try await queue.setLimit(number, key: nil) }
        } else if operands.count == 2 {
            let number = try LimitOptions.number(operands[1])
            try await connection.ask { queue throws(QueueError) in try await queue.setLimit(number, key: operands[0]) }
        } else {
            let limits = try await connection.ask { queue throws(QueueError) in try await queue.limits(operands) }
            LimitOptions.show(limits, only: operands.first, isJSON: arguments.has(.json))
        }
        return .success
    }
}

enum LimitOptions {
    static let fallback = Option("default", value: "N", "the number for keys that have none of their own, or off")

    /// A number of jobs; nothing for `off`.
    static func number(_ text: String) throws(CommandFailure) -> Int? {
        if text == "off" { return nil }
        guard let number = Int(text), (0...1_000_000).contains(number) else {
            throw .usage("'\(text)' is no number of jobs: give 0 to 1000000, or off")
        }
        return number
    }

    static func show(_ limits: KeyLimits, only name: String?, isJSON: Bool) {
        let keys = limits.keys.filter { name == nil || $0.name == name }
        var lines: [String]
        if isJSON {
            lines = keys.map { JSONLine.text(LimitLine(key: $0.name, limit: $0.number ?? limits.fallback, $0)) }
            if name == nil { lines.append(JSONLine.text(LimitLine(key: nil, limit: limits.fallback, nil))) }
        } else {
            var table = Table(["KEY": .left, "LIMIT": .right, "RUNNING": .right, "WAITING": .right])
            for key in keys {
                table.append([
                    .init(key.name), .init((key.number ?? limits.fallback).map(String.init) ?? "off"),
                    .init(String(key.running)), .init(String(key.parked)),
                ])
            }
            if name == nil { table.append(["(other keys)", .init(limits.fallback.map(String.init) ?? "off"), "", ""]) }
            lines = table.lines(for: .output)
        }
        StandardStream.output(lines.map { $0 + "\n" }.joined())
    }

    /// A key as a program reads it; without a name, what holds for all others.
    private struct LimitLine: Encodable {
        @Nullable var key: String?
        @Nullable var limit: Int?
        @Nullable var running: Int?
        @Nullable var waiting: Int?

        init(key: String?, limit: Int?, _ counts: KeyLimits.Key?) {
            self.key = key
            self.limit = limit
            running = counts?.running
            waiting = counts?.parked
        }
    }
}
