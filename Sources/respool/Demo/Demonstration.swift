import FoundationEssentials
import Glibc
import Jobs
import Lifecycle

/// Runs a complete service on this machine while a few conversions are processed.
struct Demonstration {
    /// The folder of the output files.
    let folder: String
    let minutes: Int

    func run() async throws(CommandFailure) -> ExitStatus {
        try DemoNeeds.check()
        let stage = try DemoStage()
        let interruption = await Interruption.calling {
            stage.clear()
            exit(128 + SIGINT)
        }
        defer { stage.clear() }
        let status = try await perform(on: stage)
        return withExtendedLifetime(interruption) { status }
    }

    private func perform(on stage: DemoStage) async throws(CommandFailure) -> ExitStatus {
        write("A programme of \(minutes) min is generated: chords, and one more pip each minute.")
        let programme = stage.file("programme.wav")
        let errors = try await stage.output(of: DemoAudio.command(minutes: minutes, path: programme))
        guard errors.isEmpty else {
            throw .failed("ffmpeg could not make the programme: \(String(decoding: errors, as: UTF8.self))")
        }
        try makeFolder()

        write("A private redis-server and a worker are started.")
        let connection = try await stage.startServer()
        try await stage.startWorker(at: connection.url, sources: [DemoNeeds.sounds, stage.folder], outputs: folder)

        let jobs = DemoJob.all(programme: programme, minutes: minutes)
        write(
            "\(Formatting.count(jobs.count, "job")) are pushed, as by `respool enqueue`, and followed, as by `respool status --watch`.\n"
        )
        let pushed = try await connection.ask { queue throws(QueueError) in try await queue.enqueue(jobs.map(\.fields))
        }
        let follower = JobFollower(connection: connection, terminal: .output, form: .changes) { stage.fault() }
        let status = try await follower.follow(pushed.map(\.id))

        write("\nOutput of ffprobe for the files in \(folder):\n")
        for line in try await FileReport(folder: folder, names: jobs.map(\.output)).lines(stage) { write(line) }
        write("\nIn MP3 and Opus, ffprobe counts the encoder's padding, which players skip.")
        write("Next: `respool --help`, or a job of your own with `redis-server` and `respool worker` running.")
        await stage.end()
        return status
    }

    private func makeFolder() throws(CommandFailure) {
        guard mkdir(folder, 0o755) == 0 || errno == EEXIST, access(folder, W_OK) == 0 else {
            throw .failed("cannot write to '\(folder)': \(Errno.last); give another folder with --keep")
        }
    }

    private func write(_ text: String) { StandardStream.output(text + "\n") }
}
