import Glibc
package import JobSchema
import Lifecycle
package import LocalFiles
package import Requests
package import SlotIPC

/// An output for a remote location. It is staged in the spool folder until it is published, and also at the location where that can
/// be done without making it visible: as a multipart upload, or on a file server under another name.
///
/// Its parts are published before its main file, as on a local disk.
package final class RemoteOutput {
    private let location: RemoteLocation
    private let job: String
    private let isReplacing: Bool
    private let client: HTTPClient
    /// The main file, which the transcoder writes.
    package private(set) var file: SealableFile
    /// The finished parts, concatenated in one file, because separate files would take too many descriptors.
    private var partsFile: Descriptor?
    private var partsLength: Int64 = 0
    private var parts: [Part] = []
    /// The locations of the parts that are being written.
    private var partLocations: [String: (location: RemoteLocation, isOwn: Bool)] = [:]
    private var main: Upload?
    private var sum: (bytes: Int64, sha256: String) = (0, "")
    private var isPublishing = false
    /// When the publication has taken too long.
    private var publicationEnd: ContinuousClock.Instant?
    private var sendings: [Upload] = []
    private var partsSent = 0
    /// Published objects that must be removed.
    private var pendingRemovals: ArraySlice<RemoteLocation> = []
    private var removals: [StoreRequest] = []
    private var removalFailure: Failure?

    private struct Part {
        let name: String
        let location: RemoteLocation
        /// Whether no other attempt of the job has a part of that name.
        let isOwn: Bool
        let start: Int64
        let length: Int64
        let sha256: String
    }

    /// The number of parts sent concurrently.
    private static let width = 4
    /// The number of objects removed concurrently. Each takes a connection.
    static let removalWidth = 8

    /// Creates the staged file.
    package init(_ location: RemoteLocation, job: String, replacing: Bool = true, client: HTTPClient) throws(Failure) {
        self.location = location
        self.job = job
        isReplacing = replacing
        self.client = client
        file = try sealableFile(in: client.policy.spoolFolder, for: "the output")
    }

    /// Replaces the main file by the copy, and returns it.
    package func replace(by copy: consuming FileCopy) -> SealableFile {
        file = copy.file
        return file
    }

    // MARK: Contents

    /// Begins a part. Its name is the stem of the main file's name followed by the suffix.
    package func createPart(_ suffix: String, token: String) throws(Failure) -> PartInProgress {
        let (name, location) = try location.part(suffix, token: token)
        partLocations[name] = (location, suffix.contains("{token}"))
        let part = try sealableFile(in: client.policy.spoolFolder, for: "a part of the output")
        return PartInProgress(file: part, stagedName: "", isNamed: false, name: name)
    }

    /// Takes over the complete part.
    package func keep(_ part: consuming PartInProgress, bytes: Int64, sha256: String) throws(Failure) {
        if partsFile == nil { partsFile = try unnamedFile(in: client.policy.spoolFolder, for: "the output's parts") }
        do { try appendPart(part.file.number, bytes) } catch {
            throw .writing("the spool", error, otherwise: .internal)
        }
        guard let (location, isOwn) = partLocations.removeValue(forKey: part.name) else {
            throw Failure(.internal, "the part '\(part.name)' is completed before it was started")
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

    /// Takes over the complete main file, and starts the upload if it is large.
    package func begin(bytes: Int64, sha256: String) {
        sum = (bytes, sha256)
        let body = FileBody(number: file.number, start: 0, length: bytes)
        let mark = ObjectMark(job: job, bytes: bytes, sha256: sha256)
        main = Upload(body, mark, to: location, replacing: isReplacing, client: client)
    }

    /// Whether everything is staged.
    package var isReady: Bool { main?.isReady == true }

    /// Whether a multipart upload exists at the store.
    package var isUploading: Bool { main?.identifier != nil }

    /// Why the main file's upload failed; `nil` while it has not.
    package var failure: Failure? { main?.failure }

    /// The entry for the commit record.
    package var staged: StagedOutput {
        var staged = StagedOutput(
            destination: location.name, staged: Self.stagedPrefix + (main?.identifier ?? ""), bytes: sum.bytes,
            sha256: sum.sha256)
        // Parts whose names other attempts share may belong to an earlier result, so they are not recorded.
        staged.parts = PartNames.runs(of: parts.lazy.filter(\.isOwn).map(\.name))
        return staged
    }

    /// The prefix of the recorded staged name. The upload id follows, if there is one.
    static let stagedPrefix = "upload:"

    // MARK: Publication

    /// The latest time at which `tick` must be called.
    package var nextDeadline: ContinuousClock.Instant? {
        if !pendingRemovals.isEmpty, removals.count < Self.removalWidth { return .now }
        return
            (uploads.compactMap(\.nextDeadline) + removals.compactMap(\.nextDeadline)
            + [publicationEnd].compactMap(\.self)).min()
    }

    /// Advances the requests without waiting.
    package func tick(_ now: ContinuousClock.Instant) {
        main?.tick(now)
        for sending in sendings { sending.tick(now) }
        for removal in removals { removal.tick(now) }
        for removal in removals {
            if case .failure(let failure) = removal.result, removal.status != 404 { removalFailure = failure }
        }
        removals.removeAll { $0.result != nil }
        while removals.count < Self.removalWidth, let location = pendingRemovals.popFirst() {
            removals.append(StoreRequest(StoreMessage(method: "DELETE"), about: location, client: client))
        }
    }

    /// The entity tag of the main file, once it is published.
    package var etag: String? { main?.completion.etag }

    /// Finds out whether a publication could be reverted; returns whether that is known.
    package func prepare() throws(Failure) -> Bool {
        if let failure { throw failure }
        return try withinBound { main?.prepare() ?? true }
    }

    /// How long the publication may take: twice what a server may take to answer, since a request may be repeated, one second for
    /// each file, and the time of the bytes at the lowest rate.
    private var publicationBound: Duration {
        let policy = client.policy
        let bytes = parts.reduce(isUploading ? 0 : sum.bytes) { $0 + $1.length }
        let answer = policy.connectTimeout + (isUploading ? Upload.assemblyTimeout : policy.firstByteTimeout)
        return .seconds(2 * answer + Double(parts.count + 1) + Double(bytes) / Double(policy.minOutputRate))
    }

    private var isTooSlow: Failure {
        Failure(
            .outputFailed,
            "the output '\(location.name)' was not published within \(publicationBound.rounded) s; "
                + "see RESPOOL_MIN_OUTPUT_RATE")
    }

    /// Publishes the output as far as possible without waiting; returns whether all of it is published.
    package func publish() throws(Failure) -> Bool {
        try withinBound(publishFurther)
    }

    /// Goes on with a step of the publication; returns whether it is done, and throws if it has taken too long.
    private func withinBound(_ step: () throws(Failure) -> Bool) throws(Failure) -> Bool {
        let end = publicationEnd ?? .now + publicationBound
        publicationEnd = end
        if try step() {
            publicationEnd = nil
            return true
        }
        guard .now < end else { throw isTooSlow }
        return false
    }

    private func publishFurther() throws(Failure) -> Bool {
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

    /// Removes what the published output has replaced.
    package func removeOld() {
        if let removal = main?.removeOld() { removals.append(removal) }
    }

    /// Removes what may have been published. The file that an FTP or SFTP server had before comes back.
    package func rollback() {
        abort()
        guard isPublishing else { return }
        // An unfinished upload that may not replace anything is skipped: the object at its location may belong to another job.
        let foreign = sendings.filter { !$0.mayReplace && !$0.completion.isComplete }.map(\.location)
        pendingRemovals += parts.prefix(partsSent).map(\.location).filter { !foreign.contains($0) }
        if let removal = main?.takeBack() { removals.append(removal) }
    }

    /// Aborts the uploads that are not published.
    package func abort() {
        publicationEnd = nil
        main?.abort()
        for sending in sendings { sending.abort() }
    }

    private var uploads: [Upload] { [main].compactMap(\.self) + sendings }

    /// The number of running requests, and of objects that must still be removed.
    package var remaining: Int { uploads.count { !$0.isFinished } + removals.count + pendingRemovals.count }

    /// Why something may be left at the store.
    package var leftBehind: Failure? { uploads.lazy.compactMap(\.leftBehind).first ?? removalFailure }
}
