import CCurl
package import JobSchema
package import SlotIPC

/// All requests of the process, which run on one thread, and the connections that they reuse. The C type is `CURLM`.
package final class HTTPClient {
    private let multi: UnsafeMutableRawPointer
    private var running: [UnsafeMutableRawPointer: RemoteRequest] = [:]
    private var meter = FetchMeter()
    /// Maximum number of idle connections that are kept for later requests.
    private static let keptConnections = 4
    /// The limits and addresses that hold for every request.
    package let policy: TransferPolicy
    /// The addresses that sources may be fetched from.
    package let sourceAddresses: AddressPolicy
    /// The addresses that outputs and callbacks may be sent to.
    package let outputAddresses: AddressPolicy
    /// The keys for S3.
    package let account: S3Account

    /// Initializes libcurl; ends the process if no memory is left.
    package init(policy: TransferPolicy) {
        self.policy = policy
        sourceAddresses = AddressPolicy(allowedHosts: policy.allowedHosts, closedPorts: policy.closedPorts)
        outputAddresses = AddressPolicy(allowedHosts: policy.allowedOutputHosts, closedPorts: policy.closedPorts)
        account = S3Account(policy)
        curl_global_init(Int(CURL_GLOBAL_DEFAULT))
        guard let multi = curl_multi_init() else { fatalError("libcurl: out of memory at start") }
        self.multi = multi
        _ = curl_swift_multi_set_long(multi, CURLMOPT_MAXCONNECTS, Self.keptConnections)
    }

    deinit {
        for request in running.values { curl_multi_remove_handle(multi, request.handle.pointer) }
        running = [:]
        curl_multi_cleanup(multi)
        curl_global_cleanup()
    }

    /// The URL, headers and credentials of the request for a source.
    package func target(of location: SourceLocation, _ access: WebAccess) throws(Failure) -> RequestTarget {
        switch location {
        case .file(let path): throw Failure(.internal, "the file '\(path)' is not on a server")
        case .web(let url):
            try FileScheme.check(url, of: "source", among: policy.sourceSchemes, "RESPOOL_SOURCE_SCHEMES")
            return RequestTarget(url: url, headers: try access.lines(for: url))
        case .object(let object): return try account.target(of: object)
        }
    }

    /// Starts a request; its owner is notified when `perform` has received something.
    package func add(_ request: RemoteRequest) {
        running[request.handle.pointer] = request
        if request.isFetch { meter.began() }
        curl_multi_add_handle(multi, request.handle.pointer)
    }

    /// Stops the request if it is still running. Its connection is closed unless the response was complete.
    package func remove(_ request: RemoteRequest) {
        guard running.removeValue(forKey: request.handle.pointer) != nil else { return }
        curl_multi_remove_handle(multi, request.handle.pointer)
        if request.isFetch { meter.ended(request) }
    }

    /// What was received of sources since `resetFetched`.
    package var fetched: FetchMeter { meter.including(running.values) }

    /// Measures the sources of the next job.
    package func resetFetched() { meter.reset() }

    /// Waits until a socket of a request or one of the given descriptors is readable, or until the timeout.
    package func wait(for descriptors: [CInt], atMost milliseconds: Int) {
        var entries = descriptors.map { curl_waitfd(fd: $0, events: Int16(CURL_WAIT_POLLIN), revents: 0) }
        curl_multi_poll(multi, &entries, UInt32(entries.count), Int32(clamping: milliseconds), nil)
    }

    /// Advances every request as far as possible without waiting, and notifies those that have ended.
    package func perform() {
        guard !running.isEmpty else { return }
        var count: Int32 = 0
        curl_multi_perform(multi, &count)
        while let message = curl_multi_info_read(multi, &count) {
            guard message.pointee.msg == CURLMSG_DONE, let pointer = message.pointee.easy_handle else { continue }
            let result = curl_swift_result(message)
            guard let request = running[pointer] else { continue }
            remove(request)
            if request.turnToProxy(after: result) { add(request) } else { request.ended(result) }
        }
    }
}
