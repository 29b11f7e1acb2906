import JobSchema
import LocalFiles
import Requests
import SlotIPC

/// The upload of a file to a remote location. The file is not visible before `complete`.
///
/// A large file for a store is sent beforehand as a multipart upload, several parts at a time, and a file for an FTP or SFTP server
/// under another name. Other files are sent by `complete`.
final class Upload {
    enum State {
        case beginning(StoreRequest)
        case sending
        /// Sends the file to a file server.
        case storing(StoreRequest)
        /// All parts are sent, or there are none.
        case ready
        /// Checks whether a file server has a file that must be kept.
        case preparing(StoreRequest)
        /// Checks whether an object exists that may not be replaced.
        case looking(StoreRequest)
        case completing(StoreRequest)
        /// The store has not confirmed the publication, but may have performed it.
        case checking(StoreRequest, Failure)
        case complete(etag: String?)
        case aborting(StoreRequest)
        case over
    }

    let location: RemoteLocation
    /// Whether an existing object may be replaced.
    let mayReplace: Bool
    /// The header that prevents overwriting, for servers that support it.
    private var condition: [String]
    let file: FileBody
    private let mark: ObjectMark
    let client: HTTPClient
    var state = State.ready
    /// The failure of the upload.
    private(set) var failure: Failure?
    /// Why parts may be left at the store.
    private(set) var leftBehind: Failure?
    private var isGivenUp = false
    let names: FileServerNames?
    /// Whether a file may have the staged name.
    private var isStored = false
    /// What the location had before; `nil` if that is not known.
    var hadFile: Bool?
    /// Whether the file was sent again because it could not be renamed.
    private var isRepeated = false
    /// The id of the multipart upload.
    private(set) var identifier: String?
    private var parts: [Part] = []
    private var etags: [Int: String] = [:]
    private let partLength: Int64

    private struct Part {
        let number: Int
        let call: StoreRequest
    }

    /// Seconds in which a store assembles the parts of an object.
    static let assemblyTimeout: Double = 300
    /// The number of parts of one file sent concurrently.
    private static let width = 4
    /// Maximum length of an upload id in bytes. The id is stored in Redis.
    private static let longestIdentifier = 1024

    /// Starts to send a file, which the mark identifies.
    init(_ file: FileBody, _ mark: ObjectMark, to location: RemoteLocation, replacing: Bool, client: HTTPClient) {
        self.file = file
        self.mark = mark
        self.location = location
        mayReplace = replacing
        condition = replacing ? [] : ["If-None-Match: *"]
        self.client = client
        partLength = client.policy.s3.partBytes(ofObject: file.length)
        names = location.nameOnFileServer.map { FileServerNames(own: $0) }
        if names != nil { state = .storing(store([])) }
        guard isObject, file.length > partLength else { return }
        state = .beginning(
            call(StoreMessage(method: "POST", headers: newHeaders, body: .bytes([])), query: "uploads="))
    }

    /// Whether `complete` may be called.
    var isReady: Bool {
        if case .ready = state { true } else { false }
    }

    /// Whether the object is visible, and its entity tag.
    var completion: (isComplete: Bool, etag: String?) {
        if case .complete(let etag) = state { (true, etag) } else { (false, nil) }
    }

    /// Whether no request of the upload is running.
    var isFinished: Bool {
        switch state {
        case .ready, .complete, .over: true
        case .beginning, .sending, .storing, .preparing, .looking, .completing, .checking, .aborting: false
        }
    }

    /// The latest time at which `tick` must be called.
    var nextDeadline: ContinuousClock.Instant? {
        (parts.map(\.call) + [call].compactMap(\.self)).compactMap(\.nextDeadline).min()
    }

    private var call: StoreRequest? {
        switch state {
        case .beginning(let call), .storing(let call), .preparing(let call), .looking(let call),
            .completing(let call), .checking(let call, _), .aborting(let call):
            call
        case .sending, .ready, .complete, .over: nil
        }
    }

    // MARK: Publication

    /// Makes the object visible atomically.
    func complete() {
        guard isReady else { return }
        // A store that ignores the condition would replace an existing object, so this checks first. A web URL may be valid for
        // PUT only.
        if isObject, !condition.isEmpty {
            state = .looking(call(StoreMessage(method: "HEAD"), query: ""))
        } else {
            finish()
        }
    }

    private func finish() {
        if let names { return rename(names) }
        guard let identifier else {
            state = .completing(
                call(StoreMessage(method: method, headers: newHeaders + condition, body: .file(file)), query: ""))
            return
        }
        let list = etags.sorted { $0.key < $1.key }.map { number, etag in
            "<Part><PartNumber>\(number)</PartNumber><ETag>\(etag.replacing("\"", with: "&quot;"))</ETag></Part>"
        }
        let body = "<CompleteMultipartUpload>\(list.joined())</CompleteMultipartUpload>"
        let message = StoreMessage(
            method: "POST", headers: ["Content-Type: application/xml"] + condition, body: .bytes(Array(body.utf8)),
            firstByteTimeout: Self.assemblyTimeout)
        state = .completing(call(message, query: "uploadId=\(S3Object.encodedValue(identifier))"))
    }

    /// Aborts an upload that is not published. The store then discards its parts.
    func abort() {
        isGivenUp = true
        parts = []
        switch state {
        // The id of a new upload is not known before the store has replied; `begun` aborts it then.
        case .beginning, .aborting, .complete: return
        case .storing(let call): isStored = isStored || call.hasBegun
        default: break
        }
        if let names, isStored {
            isStored = false
            return state = .aborting(abortion(names))
        }
        guard let identifier else {
            state = .over
            return
        }
        self.identifier = nil
        state = .aborting(
            call(StoreMessage(method: "DELETE"), query: "uploadId=\(S3Object.encodedValue(identifier))"))
    }

    /// Advances the requests without waiting.
    func tick(_ now: ContinuousClock.Instant) {
        call?.tick(now)
        for part in parts { part.call.tick(now) }
        switch state {
        case .beginning(let call): begun(call.result)
        case .sending: send()
        case .storing(let call):
            switch call.result {
            case .success: (isStored, state) = (true, .ready)
            case .failure(let failure): fail(failure)
            case nil: break
            }
        case .preparing(let call): prepared(call)
        case .looking(let call): looked(call)
        case .completing(let call): completed(call)
        case .checking(let call, let failure):
            guard let result = call.result else { return }
            if case .success(let answer) = result, mark.isOn(answer.head) {
                state = .complete(etag: shown(answer.head["etag"]))
            } else {
                fail(failure)
            }
        case .aborting(let call): aborted(call)
        case .ready, .complete, .over: break
        }
    }

    private func aborted(_ call: StoreRequest) {
        guard let result = call.result else { return }
        // An upload that no longer exists was aborted.
        if case .failure(let failure) = result, call.status != 404 { leftBehind = failure }
        state = .over
    }

    private func begun(_ result: Result<StoreRequest.Answer, Failure>?) {
        switch result {
        case .success(let answer):
            let name = S3Answer(answer.body)["UploadId"] ?? ""
            state = .sending
            guard (1...Self.longestIdentifier).contains(name.utf8.count) else {
                return fail(
                    Failure(
                        .outputFailed,
                        "the store of '\(location.name)' started an upload with an ID of \(name.utf8.count) bytes"))
            }
            identifier = name
            if isGivenUp {
                abort()
            } else {
                send()
            }
        case .failure(let failure):
            state = .sending
            fail(failure)
        case nil: break
        }
    }

    private func looked(_ call: StoreRequest) {
        switch call.result {
        // An object that an earlier attempt of the job left is equal to a new one.
        case .success(let answer) where identifier == nil && mark.isOn(answer.head):
            state = .complete(etag: shown(answer.head["etag"]))
        case .success: fail(.outputExists(location.name))
        case .failure where call.hasFoundNothing: finish()
        case .failure(let failure): fail(failure)
        case nil: break
        }
    }

    private func completed(_ call: StoreRequest) {
        guard let result = call.result else { return }
        // The store does not support the condition. The check just before found no object.
        if isObject, call.status == 501, !condition.isEmpty {
            condition = []
            return finish()
        }
        switch result {
        case .success(let answer):
            let inBody = isObject ? S3Answer(answer.body)["ETag"] : nil
            // A web server that creates a resource says so (RFC 9110, section 9.3.4).
            if names == nil, method == "PUT", answer.head.status == 201 { hadFile = false }
            isStored = false
            state = .complete(etag: shown(answer.head["etag"] ?? inBody))
        case .failure(let failure):
            if let names, failure.retryable, hadFile != true, !isRepeated, client.policy.maxResumes > 1 {
                isRepeated = true
                return state = .completing(
                    store(
                        names.replacement(by: names.staged, overSFTP: isOverSFTP),
                        maxAttempts: client.policy.maxResumes - 1))
            }
            guard isObject else { return fail(failure) }
            state = .checking(self.call(StoreMessage(method: "HEAD"), query: ""), cause(of: call, failure))
        }
    }

    /// The entity tag, if it fits into a report: a web server may send one of any length.
    private func shown(_ etag: String?) -> String? { etag.flatMap { $0.utf8.count <= 256 ? $0 : nil } }

    var isObject: Bool {
        if case .object = location { true } else { false }
    }

    /// Takes in the parts that have been sent, and sends the next ones.
    private func send() {
        for part in parts {
            switch part.call.result {
            case .success(let answer):
                guard let etag = answer.head["etag"] else {
                    return fail(
                        Failure(
                            .outputFailed, "the store of '\(location.name)' accepted a part without returning an ETag"))
                }
                etags[part.number] = etag
            case .failure(let failure): return fail(cause(of: part.call, failure))
            case nil: break
            }
        }
        parts.removeAll { $0.call.result != nil }
        let count = Int((file.length + partLength - 1) / partLength)
        while parts.count < Self.width, etags.count + parts.count < count { sendPart(etags.count + parts.count + 1) }
        if etags.count == count { state = .ready }
    }

    private func sendPart(_ number: Int) {
        let start = Int64(number - 1) * partLength
        let body = FileBody(
            number: file.number, start: file.start + start, length: min(partLength, file.length - start))
        let query = "partNumber=\(number)&uploadId=\(S3Object.encodedValue(identifier ?? ""))"
        parts.append(Part(number: number, call: call(StoreMessage(method: "PUT", body: .file(body)), query: query)))
    }

    /// The failure of the upload. A 404 means that it was aborted: a retry of a job aborts other uploads to its location.
    private func cause(of call: StoreRequest, _ failure: Failure) -> Failure {
        guard identifier != nil, call.status == 404 else { return failure }
        return Failure(.outputFailed, "another client aborted the upload: \(failure.message)")
    }

    func fail(_ failure: Failure) {
        self.failure = failure
        abort()
    }

    private var method: String {
        if case .web(_, let delivery) = location { delivery.method.rawValue } else { "PUT" }
    }

    private var newHeaders: [String] {
        if case .web(_, let delivery) = location {
            let fields = ["content-type": location.mediaType].merging(delivery.headers) { $1 }
            return fields.map { "\($0.key): \($0.value)" }.sorted()
        }
        let settings = client.policy.s3
        var headers = ["Content-Type: \(location.mediaType)"] + mark.headers
        if let encryption = settings.encryption { headers.append("x-amz-server-side-encryption: \(encryption)") }
        if let key = settings.encryptionKey {
            headers.append("x-amz-server-side-encryption-aws-kms-key-id: \(key)")
        }
        if let name = settings.storageClass { headers.append("x-amz-storage-class: \(name)") }
        return headers
    }

    func call(_ message: StoreMessage, query: String, maxAttempts: Int? = nil) -> StoreRequest {
        StoreRequest(message, about: location, query: query, maxAttempts: maxAttempts, client: client)
    }
}
