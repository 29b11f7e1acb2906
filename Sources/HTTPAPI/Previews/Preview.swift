import Crypto
import JobSchema
import Jobs
import MediaTypes

/// Pushes the job that makes a preview, once within the hour for which its file is kept.
struct Preview {
    private let request: APIRequest
    private let push: JobPush
    private let queue: JobQueue
    private let folder: PreviewFolder
    private let wanted: PreviewRequest

    /// The maximum length of an audio preview in seconds.
    static let maxSeconds: Int64 = 3600
    /// Jobs that nobody claims for so long are not waited for; one may run for as long. Seconds.
    private static let term = "600"
    /// The fields that say which part of a source is read, and how.
    private static let sourceFields = [
        "source", "source_credentials", "source_headers", "start", "end", "duration", "track", "drc",
    ]

    init(_ request: APIRequest, _ wanted: PreviewRequest) throws(Problem) {
        guard let folder = request.context.previews else {
            throw Problem(404, "previews_off", "this server makes no previews: start it with RESPOOL_UPLOAD_DIR")
        }
        self.request = request
        self.folder = folder
        push = try JobPush(request)
        queue = try request.queue()
        self.wanted = wanted
    }

    func run() async throws -> Reply {
        var (fields, output) = try await source()
        fields = fields.merging(
            [
                "damage": "accept", "priority": "high", "attempts": "1", "timeout": Self.term, "expires": Self.term,
                "group": group,
            ]
        ) { $1 }.merging(wanted.settings) { $1 }
        fields = try limited(fields)
        let key = Digest.of(Array("\(queue.name.text)\n\(fields.sorted { $0.key < $1.key })".utf8))
        if let id = try await made(key) {
            return push.reply(JobPush.Pushed(id: id, duplicate: true), status: 200)
        }
        fields["dedup"] = "\(request.token.groupPrefix ?? "")preview-\(key.prefix(32))"
        fields["output"] = folder.newFile(wanted.kind.fileExtension)
        if let output { fields["source"] = try await link(output) }
        let pushed = try await push.enqueue([try spec(fields)], Nonce.random()) { _ in "" }[0]
        // If it is not stored, the next request makes the preview again.
        try? await withBlocking { () throws(Problem) in folder.store(pushed.id, as: key) }
        return push.reply(pushed, status: pushed.duplicate ? 200 : 201)
    }

    /// The group of previews; it begins as the token wants.
    private var group: String {
        let prefix = request.token.groupPrefix ?? ""
        return KeyName.isValid(prefix + "previews") ? prefix + "previews" : prefix
    }

    /// An output, and when its job ended.
    private typealias FinishedOutput = (report: OutputReport, finished: Int64?)

    /// The fields about the source. That of an output is its address, and replaced by the output's file.
    private func source() async throws -> (fields: [String: String], output: FinishedOutput?) {
        switch wanted.subject {
        case .source(var fields):
            fields["source"] = try await UploadedSource(request).url(fields["source"] ?? "", at: "/source")
            return (fields, nil)
        case .sourceOfJob(let id):
            let job = try await request.job(queue, id: id)
            let fields = try await queue.fields(job.id) ?? [:]
            // A preview has one track.
            return (fields.filter { Self.sourceFields.contains($0.key) && $0.value != "all" }, nil)
        case .outputOfJob(let id, let number):
            let job = try await request.job(queue, id: id)
            let report = try Self.output(number, of: job)
            guard request.context.outputs?.contains(report) == true else {
                throw Problem(404, "not_stored", "the output is not in the folder of this server: it has no preview")
            }
            return (["source": "\(report.sha256) \(report.url)"], (report, job.finishedAt))
        }
    }

    private static func output(_ number: Int, of job: JobRecord) throws(Problem) -> OutputReport {
        let outputs = job.outputs ?? []
        guard outputs.indices.contains(number), outputs[number].isMade else {
            guard job.state.isTerminal else {
                throw Problem(409, "wrong_state", "the job is \(job.state.rawValue): it has no output yet")
            }
            throw Problem(404, "not_found", "the job \(job.id) has no output \(number): it is \(job.state.rawValue)")
        }
        guard AudioFormat.named(outputs[number].format)?.isPicture != true else {
            throw Problem(409, "no_audio", "the output is a picture, and has no sound")
        }
        return outputs[number]
    }

    /// A source that has an output: a link to it among the previews, else the output itself, if workers may read it.
    private func link(_ made: FinishedOutput) async throws -> String {
        guard let outputs = request.context.outputs else { throw Problem.noDownloads }
        let (report, finished) = made
        let format = AudioFormat.named(report.format)
        return try await withBlocking { () throws(Problem) in
            let output = try outputs.open(report, finished: finished)
            // A playlist names files that are beside it.
            let link = format?.isSegmented == true ? nil : folder.link(output, format?.fileExtension ?? "bin")
            if link != nil { outputs.linked(output, report) }
            return link ?? PreviewFolder.url(report.url)
        }
    }

    /// The fields with a range that is not too long for audio.
    private func limited(_ fields: [String: String]) throws(Problem) -> [String: String] {
        guard wanted.kind == .audio else { return fields }
        if case .outputOfJob = wanted.subject {
        } else {
            let range = try spec(fields).plan.source.range
            let end = range.start.adding(MediaTime(value: Self.maxSeconds, timescale: 1))
            if let own = range.end, let end, own <= end { return fields }
        }
        return fields.filter { $0.key != "end" }.merging(["duration": "\(Self.maxSeconds)"]) { $1 }
    }

    private func spec(_ fields: [String: String]) throws(Problem) -> JobSpec {
        do throws(Failure) { return try JobSpec(fields: fields) } catch {
            guard case .source = wanted.subject else {
                throw Problem.wrong([.init(pointer: "/job", code: error.code.rawValue, message: error.message)])
            }
            throw Problem.wrong(Problem.Part.all(error, at: ""))
        }
    }

    /// The job that has made the preview, or makes it now.
    private func made(_ key: String) async throws -> String? {
        let stored = try await withBlocking { () throws(Problem) in folder.job(key) }
        guard let id = stored,
            let job = try await queue.jobs([id])[0]
        else { return nil }
        // Others may write to the folder too, but not push to the group.
        guard job.group == group else { return nil }
        guard job.state.isTerminal else { return id }
        guard job.state == .completed, let report = job.outputs?.first else { return nil }
        let isThere = try await withBlocking { () throws(Problem) in
            do throws(Problem) { _ = try folder.files.open(report, finished: job.finishedAt) } catch { return false }
            return true
        }
        return isThere ? id : nil
    }
}

extension Problem {
    static let noDownloads = Problem(
        404, "downloads_off", "this server has no outputs: start it with RESPOOL_OUTPUT_ROOT")
}
