import Glibc
package import JobSchema
import Lifecycle
package import SlotIPC

/// An output that waits in the spool folder, and what is large of it at its store, until it is made visible there.
///
/// Its parts appear before its main file, as on a disk.
package final class RemoteOutput {
    private let location: RemoteLocation
    private let job: String
    private let isReplacing: Bool
    private let client: HTTPClient
    package private(set) var file: SealableFile
    /// The finished parts, one behind the other: files of their own would be too many to keep open.
    private var partsFile: Descriptor?
    private var partsLength: Int64 = 0
    private var parts: [Part] = []
    /// Where parts go that are written.
    private var partLocations: [String: (location: RemoteLocation, isOwn: Bool)] = [:]
    private var main: Upload?
    private var sum: (bytes: Int64, sha256: String) = (0, "")
    private var isPublishing = false
    private var sendings: [Upload] = []
    private var partsSent = 0
    /// What is visible and must go.
    private var doomed: ArraySlice<RemoteLocation> = []
    private var removals: [StoreRequest] = []
    private var removalFailure: Failure?

    private struct Part {
        let name: String
        let location: RemoteLocation
        /// Whether no other run of the job has a part of that name.
        let isOwn: Bool
        let start: Int64
        let length: Int64
        let sha256: String
    }

    /// Parts that are sent at a time.
    private static let width = 4
    /// Parts that are removed at a time: each is a connection.
    static let removalWidth = 8

    /// Makes the file that is written.
    package init(_ location: RemoteLocation, job: String, replacing: Bool = true, client: HTTPClient) throws(Failure) {
        self.location = location
        self.job = job
        isReplacing = replacing
        self.client = client
        file = try sealableFile(in: client.policy.spoolFolder, for: "the output")
    }

    /// Has the copy in the main file's place, and answers it.
    package func replace(by copy: consuming FileCopy) -> SealableFile {
        file = copy.file
        return file
    }

    // MARK: What it consists of

    /// Begins a part, whose name is the stem of the main file's and what follows it.
    package func createPart(_ suffix: String, token: String) throws(Failure) -> PartInProgress {
        let (name, location) = try location.part(suffix, token: token)
        partLocations[name] = (location, suffix.contains("{token}"))
        let part = try sealableFile(in: client.policy.spoolFolder, for: "a part of the output")
        return PartInProgress(file: part, stagedName: "", isNamed: false, name: name)
    }

    /// Takes the part when it is complete.
    package func keep(_ part: consuming PartInProgress, bytes: Int64, sha256: String) throws(Failure) {
        if partsFile == nil { partsFile = try unnamedFile(in: client.policy.spoolFolder, for: "the output's parts") }
        do { try appendPart(part.file.number, bytes) } catch {
            throw .writing("the spool", error, otherwise: .internal)
        }
        guard let (location, isOwn) = partLocations.removeValue(forKey: part.name) else {
            throw Failure(.internal, "the part '\(part.name)' is complete before it was begun")
        }
        parts.append(
            Part(name: part.name, location: location, isOwn: isOwn, start: partsLength, length: bytes, sha256: sha256))
        partsLength += bytes
    }

    private var partsNumber: CInt {
        switch partsFile {
        case .some(let file): file.number
        case nil: -1
        }
    }

    private func appendPart(_ number: CInt, _ bytes: Int64) throws(Errno) {
        let start = partsLength
        var done: Int64 = 0
        while done < bytes {
            done += try withUnsafeTemporaryAllocation(byteCount: 256 << 10, alignment: 64) {
                (buffer) throws(Errno) -> Int64 in
                let count = pread(number, buffer.baseAddress, buffer.count, off_t(done))
                guard count > 0 else { throw count < 0 ? .last : Errno(rawValue: EIO) }
                try writeAll(UnsafeRawBufferPointer(rebasing: buffer[..<count]), to: partsFile!, at: start + done)
                return Int64(count)
            }
        }
    }

    /// Takes the main file, which is complete; what is large begins to travel.
    package func begin(bytes: Int64, sha256: String) {
        sum = (bytes, sha256)
        let body = FileBody(number: file.number, start: 0, length: bytes)
        let mark = ObjectMark(job: job, bytes: bytes, sha256: sha256)
        main = Upload(body, mark, to: location, replacing: isReplacing, client: client)
    }

    /// Whether everything is where it waits.
    package var isReady: Bool { main?.isReady == true }

    /// Whether the store has a name for what is on its way there.
    package var isUploading: Bool { main?.identifier != nil }

    package var failure: Failure? { main?.failure }

    /// What to write down about it.
    package var staged: StagedOutput {
        var staged = StagedOutput(
            destination: location.name, staged: Self.stagedPrefix + (main?.identifier ?? ""), bytes: sum.bytes,
            sha256: sum.sha256)
        // What other runs call alike may be an older result's.
        staged.parts = PartNames.runs(of: parts.lazy.filter(\.isOwn).map(\.name))
        return staged
    }

    /// What the name begins with under which it waits; the store's name of the upload follows, if there is one.
    static let stagedPrefix = "upload:"

    // MARK: Its way

    /// When `tick` wants to be called at the latest.
    package var nextDeadline: ContinuousClock.Instant? {
        if !doomed.isEmpty, removals.count < Self.removalWidth { return .now }
        return (uploads.compactMap(\.nextDeadline) + removals.compactMap(\.nextDeadline)).min()
    }

    /// Moves on what can move.
    package func tick(_ now: ContinuousClock.Instant) {
        main?.tick(now)
        for sending in sendings { sending.tick(now) }
        for removal in removals { removal.tick(now) }
        for removal in removals {
            if case .failure(let failure) = removal.result, removal.status != 404 { removalFailure = failure }
        }
        removals.removeAll { $0.result != nil }
        while removals.count < Self.removalWidth, let location = doomed.popFirst() {
            removals.append(StoreRequest(StoreMessage(method: "DELETE"), about: location, client: client))
        }
    }

    /// What the store calls the main file's content, once it is visible.
    package var etag: String? { main?.completion.etag }

    /// Makes it visible, as far as that goes without waiting; answers whether all of it is.
    package func publish() throws(Failure) -> Bool {
        isPublishing = true
        for sending in sendings {
            if let failure = sending.failure { throw failure }
            sending.complete()
        }
        sendings.removeAll { $0.completion.isComplete }
        while sendings.count < Self.width, partsSent < parts.count {
            let part = parts[partsSent]
            let body = FileBody(number: partsNumber, start: part.start, length: part.length)
            let mark = ObjectMark(job: job, bytes: part.length, sha256: part.sha256)
            let sending = Upload(
                body, mark, to: part.location, replacing: isReplacing || part.isOwn, client: client)
            sending.complete()
            sendings.append(sending)
            partsSent += 1
        }
        guard sendings.isEmpty else { return false }
        main?.complete()
        if let failure { throw failure }
        return main?.completion.isComplete == true
    }

    /// Takes back what may be visible.
    package func rollback() {
        abort()
        guard isPublishing else { return }
        // What could not be sent for what was there already is another's, and so may be what nobody answered for.
        let foreign = sendings.filter { !$0.mayReplace && !$0.completion.isComplete }.map(\.location)
        doomed += parts.prefix(partsSent).map(\.location).filter { !foreign.contains($0) }
        // What a web server took is its own now.
        if main?.completion.isComplete == true, case .object = location { doomed.append(location) }
    }

    /// Gives up what is not visible.
    package func abort() {
        main?.abort()
        for sending in sendings { sending.abort() }
    }

    private var uploads: [Upload] { [main].compactMap(\.self) + sendings }

    /// How many things of it are under way, or must still be taken back.
    package var remaining: Int { uploads.count { !$0.isFinished } + removals.count + doomed.count }

    /// Why something of it may be left at the store.
    package var leftBehind: Failure? { uploads.lazy.compactMap(\.leftBehind).first ?? removalFailure }
}
