package import JobSchema
import LocalFiles
package import Requests

/// Aborts multipart uploads to one location that earlier attempts of its job started and left behind.
package final class StaleUploads {
    private enum State {
        case listing(StoreRequest)
        case aborting([StoreRequest])
        case over
    }

    private let object: S3Object
    /// Milliseconds since 1970.
    private let start: Int64
    private let client: HTTPClient
    private var state: State
    /// Why uploads may be left.
    package private(set) var leftBehind: Failure?

    /// Lists the uploads started since the job was created; `nil` if the location does not support multipart uploads.
    package init?(at location: RemoteLocation, since start: Int64, client: HTTPClient) {
        guard case .object(let object) = location else { return nil }
        self.object = object
        self.start = start
        self.client = client
        let query = "prefix=\(S3Object.encodedValue(object.key))&uploads="
        state = .listing(
            StoreRequest(StoreMessage(method: "GET"), client: client) { () throws(Failure) in
                try client.account.target(ofBucketOf: object, query: query)
            })
    }

    /// Whether the list was read and every abort has a reply.
    package var isFinished: Bool {
        if case .over = state { true } else { false }
    }

    /// The latest time at which `tick` must be called.
    package var nextDeadline: ContinuousClock.Instant? { calls.compactMap(\.nextDeadline).min() }

    private var calls: [StoreRequest] {
        switch state {
        case .listing(let call): [call]
        case .aborting(let calls): calls
        case .over: []
        }
    }

    /// Advances the requests without waiting.
    package func tick(_ now: ContinuousClock.Instant) {
        for call in calls { call.tick(now) }
        switch state {
        case .listing(let call):
            switch call.result {
            case .success(let answer): abort(S3Answer(answer.body))
            case .failure(let failure):
                leftBehind = failure
                state = .over
            case nil: break
            }
        case .aborting(let calls):
            for call in calls {
                if case .failure(let failure) = call.result, call.status != 404 { leftBehind = failure }
            }
            let running = calls.filter { $0.result == nil }
            state = running.isEmpty ? .over : .aborting(running)
        case .over: break
        }
    }

    private func abort(_ list: S3Answer) {
        // Stores report whole seconds.
        let second = start - start % 1000
        let calls = list.all("Upload").filter { upload in
            upload["Key"] == object.key && upload["Initiated"].flatMap(Instant.milliseconds(parsing:)) ?? 0 >= second
        }.compactMap { $0["UploadId"] }.prefix(RemoteOutput.removalWidth).map { identifier in
            StoreRequest(
                StoreMessage(method: "DELETE"), about: .object(object),
                query: "uploadId=\(S3Object.encodedValue(identifier))", client: client)
        }
        state = calls.isEmpty ? .over : .aborting(calls)
    }
}
