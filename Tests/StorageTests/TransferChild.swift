import FoundationEssentials
import Glibc
import JobSchema
import Lifecycle
import MediaTypes
import SlotIPC
import TestSupport
import Testing

/// A running `respool-transfer`, with the test in the place of both the worker and `respool-transcode`.
actor TransferChild {
    nonisolated let pid: CInt
    private let executor: ThreadExecutor
    private var control: PacketSocket?
    private var link: PacketSocket?
    private let linkNumber: CInt
    private var source: CInt = -1
    private var output: CInt = -1
    private var scratches: [CInt] = []

    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    struct Silent: Error {}

    /// Starts the program and greets it; `wrapper` is a command that becomes the program in the end.
    static func start(_ policy: TransferPolicy, wrapper: [String] = []) async throws -> TransferChild {
        var controls = try PacketSocket.pair()
        var links = try PacketSocket.pair()
        let command = wrapper + [Programs.path("respool-transfer"), String(getpid())]
        let program = Spawner.Program(
            path: command[0], arguments: Array(command.dropFirst()),
            environment: ProcessInfo.processInfo.environment)
        let theirControl = controls.second.take()!
        let theirLink = links.second.take()!
        let pid = try await Spawner.shared.spawn(
            program, descriptors: [-1, -1, STDERR_FILENO, theirControl.number, theirLink.number])
        _ = consume theirControl
        _ = consume theirLink
        let child = TransferChild(pid: pid, control: controls.first.take()!, link: links.first.take()!)
        try await child.greet(policy)
        return child
    }

    private init(pid: CInt, control: consuming PacketSocket, link: consuming PacketSocket) {
        self.pid = pid
        linkNumber = link.number
        self.control = consume control
        self.link = consume link
        executor = ThreadExecutor(label: "transfer \(pid)")
    }

    private func greet(_ policy: TransferPolicy) throws {
        try tell(.hello(version: slotProtocolVersion, policy: policy))
        guard case .hello(slotProtocolVersion, _) = try report() else { throw Silent() }
    }

    func tell(_ order: TransferOrder, descriptor: CInt = -1) throws {
        try control!.send(order, descriptor: descriptor)
    }

    /// The next report of the control socket.
    func report() throws -> TransferReport {
        guard try control!.waitUntilReadable(milliseconds: 60_000),
            let received = try control!.receive(TransferReport.self)
        else { throw Silent() }
        return received.message
    }

    /// The next report that says more than that something is under way.
    func outcome() throws -> TransferReport {
        while true {
            switch try report() {
            case .uploading, .publishing, .waiting: continue
            case let report: return report
            }
        }
    }

    func isSilent(milliseconds: CInt) throws -> Bool { try !control!.waitUntilReadable(milliseconds: milliseconds) }

    func send(_ request: LinkRequest) throws { try link!.send(request) }

    /// Sends what is no request.
    func sendNonsense() throws { try link!.send("nonsense") }

    /// Sends so many requests and reads no answer; ends early once there is a report.
    func ask(_ request: LinkRequest, times count: Int) throws {
        let packet = Array(try JSONEncoder().encode(request))
        let end = ContinuousClock.now + .seconds(60)
        var left = count
        while left > 0, ContinuousClock.now < end {
            if Glibc.send(linkNumber, packet, packet.count, CInt(MSG_DONTWAIT | MSG_NOSIGNAL)) > 0 {
                left -= 1
            } else if try !isSilent(milliseconds: 10) {
                return
            }
        }
    }

    /// A second descriptor of the link, which the caller closes.
    func duplicateLink() -> CInt { dup(linkNumber) }

    /// The next answer over the link; a descriptor with it is kept here.
    func answer() throws -> LinkAnswer {
        guard try link!.waitUntilReadable(milliseconds: 60_000), var received = try link!.receive(LinkAnswer.self)
        else {
            throw Silent()
        }
        switch received.message {
        case .opened, .openedWhole, .openedStream: source = replace(source, by: received.descriptor.take())
        case .stage, .sealed: output = replace(output, by: received.descriptor.take())
        case .scratch: scratches.append(received.descriptor.take()?.release() ?? -1)
        default: break
        }
        return received.message
    }

    private func replace(_ old: CInt, by new: consuming Descriptor?) -> CInt {
        if old >= 0 { close(old) }
        return new?.release() ?? -1
    }

    /// Whether an answer has come over the link.
    func hasAnswer() throws -> Bool { try link!.waitUntilReadable(milliseconds: 0) }

    func ask(_ request: LinkRequest) throws -> LinkAnswer {
        try send(request)
        return try answer()
    }

    /// The source's bytes, which must have been announced.
    func read(_ range: Range<Int64>) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: range.count)
        let count = pread(source, &bytes, bytes.count, off_t(range.lowerBound))
        return Array(bytes.prefix(max(0, count)))
    }

    /// Asks for all of the range and reads it.
    func fetch(_ range: Range<Int64>) throws -> [UInt8] {
        var bytes: [UInt8] = []
        var offset = range.lowerBound
        while offset < range.upperBound {
            guard case .have(offset, let length) = try ask(.need(offset: offset))
            else {
                throw Silent()
            }
            guard length > 0 else { break }
            let end = min(offset + length, range.upperBound)
            bytes += read(offset..<end)
            offset = end
        }
        return bytes
    }

    /// Bytes that the source takes on the disk.
    func sourceBlocks() -> Int64 {
        var found = stat()
        return fstat(source, &found) == 0 ? Int64(found.st_blocks) * 512 : -1
    }

    /// Whether the source's descriptor can be written to.
    func mayWriteSource() -> Bool { fcntl(source, F_GETFL) & O_ACCMODE != O_RDONLY }

    /// Stages an output with these bytes, and answers what is reported of it.
    func stage(_ text: String, output index: Int = 0) throws -> TransferReport {
        _ = try write(text, output: index, part: nil)
        return try outcome()
    }

    /// Writes one file of an output, and answers the name that it will have.
    func write(_ text: String, output index: Int, part: String?) throws -> String {
        let name = try begin(text, output: index, part: part)
        output = replace(output, by: nil)
        try send(.finished(output: index, part: part))
        return name
    }

    /// Writes one file of an output, and keeps it open.
    @discardableResult
    func begin(_ text: String, output index: Int, part: String?) throws -> String {
        guard case .stage(let name) = try ask(.stage(output: index, part: part)) else { throw Silent() }
        _ = text.withCString { pwrite(output, $0, strlen($0), 0) }
        return name
    }

    /// A second descriptor of the file that is written, which the caller closes.
    func duplicateOutput() -> CInt { dup(output) }

    /// Forgets the file that is written.
    func closeOutput() { output = replace(output, by: nil) }

    /// Writes so many bytes to the file that is written.
    func grow(by count: Int) { _ = Self.fill(output, count) }

    /// Asks for a scratch file and writes so many bytes to it; answers the refusal, if there is one.
    func fillScratch(_ count: Int) throws -> Failure? {
        let answer = try ask(.scratch)
        if case .scratch = answer { #expect(Self.fill(scratches.last!, count) == count) }
        return answer.failure
    }

    /// Writes so many bytes more to the last scratch file.
    func growScratch(by count: Int) { _ = Self.fill(scratches.last!, count) }

    /// Reads so many bytes, and answers how many there were.
    func readAway(_ count: Int, from pipe: CInt) -> Int {
        var (bytes, done) = ([UInt8](repeating: 0, count: 1 << 16), 0)
        while done < count {
            var entry = pollfd(fd: pipe, events: Int16(POLLIN), revents: 0)
            guard poll(&entry, 1, 60_000) > 0 else { break }
            let step = Glibc.read(pipe, &bytes, bytes.count)
            guard step > 0 else { break }
            done += step
        }
        return done
    }

    /// Bytes that the scratch files take on the disk.
    func scratchBlocks() -> Int64 {
        scratches.reduce(0) { sum, number in
            var found = stat()
            return fstat(number, &found) == 0 ? sum + Int64(found.st_blocks) * 512 : sum
        }
    }

    func closeScratches() {
        for number in scratches { close(number) }
        scratches = []
    }

    private static func fill(_ number: CInt, _ count: Int) -> Int {
        Glibc.write(number, [UInt8](repeating: 1, count: count), count)
    }

    /// Forgets the job's descriptors, and ends it.
    func end() throws -> TransferReport {
        source = replace(source, by: nil)
        output = replace(output, by: nil)
        try tell(.end)
        return try report()
    }

    /// Forgets the job's descriptors, ends it, and answers what is reported of that in the end.
    func ending() throws -> TransferReport {
        var report = try end()
        while !report.isEnded { report = try self.report() }
        return report
    }

    /// Ends the job; whatever else was still on its way is read and forgotten.
    func endJob() throws {
        source = replace(source, by: nil)
        output = replace(output, by: nil)
        try tell(.end)
        while true {
            if case .ended = try report() { break }
        }
        while try link!.waitUntilReadable(milliseconds: 0) { _ = try link!.receive(LinkAnswer.self) }
    }

    /// How many descriptors the child has open.
    nonisolated func openDescriptors() throws -> Int {
        try FileManager.default.contentsOfDirectory(atPath: "/proc/\(pid)/fd").count
    }

    /// Bytes of memory that the child has had at most.
    nonisolated func peakMemory() throws -> Int {
        let status = try String(contentsOfFile: "/proc/\(pid)/status", encoding: .utf8)
        let line = status.split(separator: "\n").first { $0.hasPrefix("VmHWM:") }
        return (line?.split(whereSeparator: \.isWhitespace)[1]).flatMap { Int($0) }.map { $0 << 10 } ?? 0
    }

    /// Closes the sockets, waits for the child's end, and answers its exit code; nothing if a signal ended it.
    @discardableResult
    func finish() -> CInt? {
        control = nil
        link = nil
        source = replace(source, by: nil)
        output = replace(output, by: nil)
        closeScratches()
        var status: CInt = 0
        while waitpid(pid, &status, 0) < 0, errno == EINTR {}
        return status & 0x7f == 0 ? status >> 8 & 0xff : nil
    }

    deinit {
        if control != nil { kill(pid, SIGKILL) }
    }
}

/// Runs the body with a child, which must end by itself and well afterwards.
func withTransfer(
    _ policy: TransferPolicy, wrapper: [String] = [], isolation: isolated (any Actor)? = #isolation,
    _ body: (TransferChild) async throws -> Void
) async throws {
    let child = try await TransferChild.start(policy, wrapper: wrapper)
    do { try await body(child) } catch {
        await child.finish()
        throw error
    }
    guard await child.finish() == 0 else { throw NotInTime(description: "respool-transfer did not end well") }
}

extension TransferJob {
    static let testID = "1700000000000-0"

    /// Parts of many kinds.
    static let someParts: [PartPattern] = [
        .numbered(before: "{token}/", digits: 1, after: ".m4s"), .single("-{token}-1.m4s"), .single(".chapters.json"),
    ]

    /// A job without an output.
    static func test(_ source: String) -> TransferJob {
        TransferJob(id: testID, token: "1:abcd", sourceURL: source, outputs: [])
    }

    static func test(
        _ source: String, output: String?, token: String = "1:abcd", parts: [PartPattern] = []
    ) -> TransferJob {
        TransferJob(
            id: testID, token: token, sourceURL: source, outputs: [.init(output, defaultName: "job.mp3", parts: parts)])
    }
}

extension LinkAnswer {
    var failure: Failure? {
        if case .refused(let failure) = self { failure } else { nil }
    }
}

extension TransferReport {
    var failure: Failure? {
        switch self {
        case .failed(let failure), .outputFailed(_, let failure), .violation(let failure): failure
        default: nil
        }
    }

    var violation: Failure? {
        switch self {
        case .violation(let failure): failure
        case .ended(_, let failure, _): failure
        default: nil
        }
    }

    var staged: StagedOutput? {
        if case .staged(_, let output) = self { output } else { nil }
    }
}
