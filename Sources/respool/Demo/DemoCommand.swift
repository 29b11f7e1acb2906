import Glibc
import Jobs
import Lifecycle

extension Command {
    static let demo = Command(
        "demo", "runs a demonstration: a private Redis, a worker, real conversions",
        details: [
            "Starts a redis-server on a Unix socket and a worker, pushes conversions of recordings from "
                + "Debian's sound-theme-freedesktop and of a generated programme, shows their progress, and ends "
                + "with a table of the finished files. Everything except those files is stopped and removed afterwards."
        ],
        options: [DemoOptions.keep, DemoOptions.minutes],
        examples: [.init(line: "respool demo --keep /tmp/sounds", meaning: "writes the files to /tmp/sounds")]
    ) { arguments throws(CommandFailure) in
        let folder = try SourceAddress.absolutePath(arguments.value(DemoOptions.keep) ?? "respool-demo")
        let minutes = try arguments.whole(DemoOptions.minutes, in: 1...60) ?? 10
        return try await Demonstration(folder: folder, minutes: minutes).run()
    }
}

enum DemoOptions {
    static let keep = Option(
        "keep", value: "DIR", "where the finished files go", fallback: "./respool-demo", suggestion: .folders)
    static let minutes = Option("minutes", value: "N", "length of the generated programme", fallback: "10")
}
