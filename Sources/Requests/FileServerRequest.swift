import CCurl
import JobSchema
import SlotIPC

/// One FTP or SFTP request that downloads or uploads a file, or changes files.
///
/// The file's metadata is converted to the head of an equivalent HTTP response.
final class FileServerRequest: RemoteRequest {
    /// A download of the file, or of the rest from the start of the range.
    init(
        _ scheme: FileScheme, _ target: RequestTarget, range: (from: Int64, to: Int64?)?, policy: TransferPolicy,
        addresses: AddressPolicy, owner: any Owner
    ) throws(Failure) {
        try super.init(
            target, noun: "the source", range: range, timeout: policy.connectTimeout, policy: policy,
            addresses: addresses, owner: owner)
        handle.ask(scheme, from: range?.from, target, policy)
    }

    /// Work at an output.
    init(
        _ scheme: FileScheme, _ work: FileServerWork, of message: StoreMessage, to target: RequestTarget,
        policy: TransferPolicy, addresses: AddressPolicy, owner: any Owner
    ) throws(Failure) {
        try super.init(
            target, noun: "the output", timeout: policy.connectTimeout, firstByteTimeout: message.firstByteTimeout,
            policy: policy,
            addresses: addresses, owner: owner)
        if case .file(let file) = message.body { send(file) }
        switch work {
        case .look: handle.ask(scheme, from: nil, target, policy)
        case .change(let upload, let commands):
            try handle.change(scheme, upload: upload, commands, target, policy)
        }
    }

    override func finish(_ code: CURLcode) -> End {
        // An empty file delivers no body, so its head has not been made yet.
        if code == CURLE_OK, !hasHead {
            do throws(Failure) { _ = try takeHead(length: 0) } catch { failure = error }
        }
        return super.finish(code)
    }

    override func take(line: String) throws(Failure) -> Bool {
        guard try super.take(line: line) else { return false }
        if body?.isCut(by: line) == true { throw .cutOnItsWay(target.name) }
        return true
    }

    override func beginBody() throws(Failure) -> Bool {
        if hasHead { true } else { try takeHead(length: handle.contentLength) }
    }

    /// Makes the head from the metadata that the server sent before the first byte.
    private func takeHead(length: Int64?) throws(Failure) -> Bool {
        head = HTTPHead(fileOf: length, changed: handle.fileTime, from: range?.from, after: head)
        hasHead = true
        return try deliverHead()
    }
}
