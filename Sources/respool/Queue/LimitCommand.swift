import JobSchema
import Jobs

extension Command {
    static let limit = Command(
        "limit", usages: ["[KEY]", "KEY [N|off] [--rate N|off]", "[--default N|off] [--default-rate N|off]"],
        "sets or shows how many jobs of one limit_key run concurrently on all workers, or start per minute",
        details: [
            "Jobs over the limit wait until another job of their key ends; 0 starts none. With a rate, each "
                + "starts at least 60 / N seconds after the previous one. The defaults apply to keys without a limit."
        ],
        options: [LimitOptions.rate, LimitOptions.fallback, LimitOptions.fallbackRate, .json, .queue, .redis],
        examples: [
            .init(
                line: "respool limit archive.org 2", meaning: "at most two concurrent jobs with `limit_key` archive.org"
            ),
            .init(line: "respool limit archive.org --rate 30", meaning: "starts one every two seconds"),
            .init(line: "respool limit", meaning: "lists every key with a limit, its running and its waiting jobs"),
        ],
        operands: 0...2
    ) { arguments throws(CommandFailure) in
        let connection = try QueueConnection(arguments)
        let operands = arguments.operands
        if let key = operands.first, !KeyName.isValid(key, atMost: 128, also: ":@") {
            throw .usage("'\(key)' is not a limit_key: give 1 to 128 of A-Z a-z 0-9 _ . : @ -")
        }
        let texts = (
            number: operands.count == 2 ? operands[1] : arguments.value(LimitOptions.fallback),
            rate: arguments.value(operands.isEmpty ? LimitOptions.fallbackRate : LimitOptions.rate)
        )
        let isDefault = arguments.has(LimitOptions.fallback) || arguments.has(LimitOptions.fallbackRate)
        if let key = operands.first, isDefault {
            throw .usage("'\(key)' and a default are mutually exclusive: give a key, or --default and --default-rate")
        }
        if operands.isEmpty, arguments.has(LimitOptions.rate) {
            throw .usage("--rate requires a key: write respool limit KEY --rate N, or --default-rate N")
        }
        let number = try texts.number.map { text throws(CommandFailure) in try LimitOptions.number(text, from: 0) }
        let rate = try texts.rate.map { text throws(CommandFailure) in try LimitOptions.number(text, from: 1) }
        if let number {
            try await connection.ask { queue throws(QueueError) in
                try await queue.setLimit(number, key: operands.first)
            }
        }
        if let rate {
            try await connection.ask { queue throws(QueueError) in try await queue.setRate(rate, key: operands.first) }
        }
        if number == nil, rate == nil {
            let limits = try await connection.ask { queue throws(QueueError) in try await queue.limits(operands) }
            LimitOptions.show(limits, only: operands.first, isJSON: arguments.has(.json))
        }
        return .success
    }
}

enum LimitOptions {
    static let fallback = Option("default", value: "N", "the limit of keys without one, or off")

    static let rate = Option("rate", value: "N", "jobs of the key that may start per minute, or off")
    static let fallbackRate = Option(
        "default-rate", value: "N", "the rate of keys without one, or off")

    /// A number of jobs; `nil` for `off`.
    static func number(_ text: String, from least: Int) throws(CommandFailure) -> Int? {
        if text == "off" { return nil }
        guard let number = Int(text), (least...KeyLimits.most).contains(number) else {
            throw .usage("'\(text)' is not a number of jobs: give \(least) to \(KeyLimits.most), or off")
        }
        return number
    }

    static func show(_ limits: KeyLimits, only name: String?, isJSON: Bool) {
        let keys = limits.keys.filter { name == nil || $0.name == name }
        var lines: [String]
        if isJSON {
            lines = keys.map { JSONLine.text(LimitReport(limits, $0)) }
            if name == nil { lines.append(JSONLine.text(LimitReport(limits, nil))) }
        } else {
            var table = Table(["KEY": .left, "LIMIT": .right, "RATE": .right, "RUNNING": .right, "WAITING": .right])
            for key in keys {
                table.append([
                    .init(key.name), shown(key.number ?? limits.fallback),
                    shown(key.rate ?? limits.fallbackRate, "/min"),
                    .init(String(key.running)), .init(String(key.parked)),
                ])
            }
            if name == nil {
                table.append(["(other keys)", shown(limits.fallback), shown(limits.fallbackRate, "/min"), "", ""])
            }
            lines = table.lines(for: .output)
        }
        StandardStream.output(lines.map { $0 + "\n" }.joined())
    }

    private static func shown(_ number: Int?, _ unit: String = "") -> Table.Cell {
        .init(number.map { "\($0)\(unit)" } ?? "off")
    }
}
