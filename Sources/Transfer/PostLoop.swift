import Lifecycle
import Requests
import SlotIPC

/// The event loop of a `respool-transfer` that posts callbacks or traces. It handles orders of the worker and network events.
final class PostLoop {
    private let control: PacketSocket
    private let client: HTTPClient
    private var posts: [OutgoingPost] = []

    init(control: consuming PacketSocket, policy: TransferPolicy) {
        self.control = control
        client = HTTPClient(policy: policy)
    }

    /// Runs until the worker closes the control socket.
    func run() throws(PacketError) {
        while true {
            client.wait(for: [control.number], atMost: 60_000)
            while try control.waitUntilReadable(milliseconds: 0) {
                guard let received = try control.receive(PostOrder.self) else { return }
                guard case .post(let message) = received.message else { throw .malformed("a second hello") }
                posts.append(OutgoingPost(message, client: client))
            }
            client.perform()
            for post in posts {
                if let answer = post.answer { try control.send(PostReport.answered(post.number, answer)) }
            }
            posts.removeAll { $0.answer != nil }
        }
    }
}
