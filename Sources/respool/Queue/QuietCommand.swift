import Jobs

extension Command {
    static let quiet = Command(
        "quiet", usages: ["WORKER…"],
        "tells workers to claim no more jobs; exits with 1 if one is unknown",
        details: [
            "A worker is named HOST:PID or HOST:PID:NONCE, as `respool status` shows it. Its running jobs continue, and it stays until it "
                + "is stopped or is told with --off to claim jobs again. It learns that within a second, and then claims no jobs of any queue."
        ],
        options: [QuietOptions.off, .json, .queue, .redis],
        examples: [.init(line: "respool quiet host1:812", meaning: "before the machine is taken down")],
        operands: 1...Int.max
    ) { arguments throws(CommandFailure) in
        let connection = try QueueConnection(arguments)
        let report = JobActionReport(isJSON: arguments.has(.json))
        var results: [JobActionResult] = []
        for name in arguments.operands {
            let isQuiet = !arguments.has(QuietOptions.off)
            let found = try await connection.ask { queue throws(QueueError) in
                try await queue.setQuiet(isQuiet, worker: name)
            }
            let word = isQuiet ? "quiet" : "active"
            results.append(
                found == nil
                    ? JobActionResult("unknown", "the queue has no such worker", isGood: false)
                    : JobActionResult(word, isGood: true))
        }
        return report.show(arguments.operands, results) ? .success : .failure
    }
}

enum QuietOptions {
    static let off = Option("off", "claims jobs again")
}
