import JobSchema
import Jobs
import Lifecycle

extension Route {
    /// The route that reports what a client may do.
    static let access: [Route] = [
        Route(
            method: "GET", path: "/v1/access", name: "getAccess",
            summary: "What the token allows, and which features the server has.", role: .read,
            responses: [(200, "the access", Schema.named("Access"))]
        ) { request in
            let names = request.context.queues.map(\.name.text)
            let token = request.token
            return Reply(
                Access(
                    name: token.name, role: token.role.rawValue,
                    queues: token.queue.map { own in names.filter { $0 == own } } ?? names,
                    groupPrefix: token.groupPrefix, uploads: request.context.uploads != nil,
                    downloads: request.context.outputs != nil, previews: request.context.previews != nil))
        }
    ]

    private struct Access: Encodable {
        let name: String
        let role: String
        /// The first one is the default.
        let queues: [String]
        @Nullable var groupPrefix: String?
        let uploads: Bool
        let downloads: Bool
        let previews: Bool
        let version = respoolVersion

        enum CodingKeys: String, CodingKey {
            case name, role, queues, uploads, downloads, previews, version
            case groupPrefix = "group_prefix"
        }
    }
}
