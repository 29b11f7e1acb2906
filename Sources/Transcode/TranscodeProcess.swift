import Decoding
import Glibc
import Lifecycle
import MediaTypes
import Sandbox
import SlotIPC
import Tags

/// The child that parses media. It has two sockets and the descriptors of the current job, and processes one job after another.
package struct TranscodeProcess: ~Copyable {
    private let reporter: Reporter
    private let job: ConversionJob

    private init(_ job: ConversionJob) {
        reporter = job.reporter
        self.job = job
    }

    /// Processes orders until the worker closes the control socket. Ends by returning, so that a sanitizer can report leaks.
    ///
    /// With `undecoded` as its only argument, it prints the variants of codecs that its libav does not decode, and ends.
    package static func main() {
        if CommandLine.arguments.dropFirst() == ["undecoded"] {
            return print(RareVariant.allCases.filter { !$0.isDecoded }.map(\.rawValue).joined(separator: "\n"))
        }
        do {
            try ChildStart.enter(arguments: CommandLine.arguments)
            Heap.useOne()
            try serve(control: ChildStart.control(), link: ChildStart.link())
        } catch {
            Log(form: .text).error("respool-transcode: \(error)")
            exit(2)
        }
    }

    private static func serve(control: consuming PacketSocket, link: consuming PacketSocket) throws {
        guard let greeting = try control.receive(TranscodeOrder.self) else { return }
        guard case .hello(slotProtocolVersion, let policy) = greeting.message else { throw VersionMismatch() }
        try ChildStart.limit(
            memoryBytes: policy.memoryLimit, fileBytes: policy.maxOutputBytes, openFiles: 128)
        // Open character set converters need no files. After the sandbox is entered, no file can be opened.
        TagCharsets.open(TagEncoding.names)
        let reporter = Reporter(control: control)
        reporter.forwardLibavLog()
        let unconfined = ChildStart.isConfined ? try Confinement.enterTranscode() : []
        try reporter.send(.hello(version: slotProtocolVersion, unconfined: unconfined))
        let process = TranscodeProcess(
            ConversionJob(link: Link(socket: link, reporter: reporter), reporter: reporter, limits: policy.source))
        var returned = ContinuousClock.now
        while true {
            // Freed memory is fragmented. If it were not returned, it would accumulate over thousands of different jobs. To return
            // it between short jobs costs more than some of them, so that waits for a pause, but no longer than a second.
            if try !process.reporter.waitForOrder(milliseconds: 50) || returned.duration(to: .now) > .seconds(1) {
                Heap.returnFree()
                returned = .now
            }
            guard let order = try process.reporter.nextOrder() else { return }
            try process.serve(order)
        }
    }

    private func serve(_ order: TranscodeOrder) throws {
        switch order {
        case .hello: throw VersionMismatch()
        // The conversion has ended meanwhile.
        case .threads: break
        case .convert(let plan, let threads):
            let threads = ThreadBudget(plan.threads ?? threads, isFixed: plan.threads != nil)
            reporter.beginJob(threads)
            try reporter.send(job.convert(plan, threads))
        case .probe(let settings):
            reporter.beginJob()
            try reporter.send(job.probe(settings))
        }
    }
}

/// The worker uses another version of the protocol: the programs are not from the same installation.
struct VersionMismatch: Error, CustomStringConvertible {
    var description: String { "the worker is of another version than respool-transcode: install them together" }
}
