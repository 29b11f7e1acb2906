import CCurl
import JobSchema
import SlotIPC

/// One request over FTP or SFTP: for a file, or with one.
///
/// What such a server says of a file is put into the head that an HTTP server would send.
final class FileServerRequest: RemoteRequest {
    /// A request for the file, or for its end from where the range begins.
    init(
        _ scheme: FileScheme, _ target: RequestTarget, range: (from: Int64, to: Int64?)?, policy: TransferPolicy,
        addresses: AddressPolicy, owner: any Owner
    ) throws(Failure) {
        try super.init(
            target, noun: "the source", range: range, timeout: policy.connectTimeout, policy: policy,
            addresses: addresses, owner: owner)
        handle.ask(scheme, from: range?.from, target, policy)
    }

    /// A request that gives the server a file.
    init(
        _ scheme: FileScheme, sending file: FileBody, of message: StoreMessage, to target: RequestTarget,
        policy: TransferPolicy, addresses: AddressPolicy, owner: any Owner
    ) throws(Failure) {
        try super.init(
            target, noun: "the output", timeout: policy.connectTimeout, firstByteTimeout: message.firstByteTimeout,
            policy: policy,
            addresses: addresses, owner: owner)
        send(file)
        try handle.deliver(scheme, target, policy)
    }

    override func finish(_ code: CURLcode) -> End {
        // Of an empty file nothing has come.
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

    /// Makes the head of what the server has said of the file before its first byte.
    private func takeHead(length: Int64?) throws(Failure) -> Bool {
        head = HTTPHead(fileOf: length, changed: handle.fileTime, from: range?.from, after: head)
        hasHead = true
        return try deliverHead()
    }
}
