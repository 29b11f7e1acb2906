import HTTPServer
import JobSchema

/// All routes, by path.
struct RouteTable: Sendable {
    /// Where a path may go on, by its next part.
    private struct Node {
        var next: [Substring: Node] = [:]
        /// The routes that end here, with the names of their parameters.
        var routes: [(route: Route, names: [String])] = []
    }

    private let root: Node
    /// The key of a parameter among the parts of a path.
    private static let parameter: Substring = "{}"

    /// Paths that anybody may read by any host name.
    static let probes: Set<String> = ["/healthz", "/readyz"]

    init(_ routes: [Route]) {
        root = routes.reduce(into: Node()) { Self.insert($1, $1.segments[...], [], &$0) }
    }

    /// The routes of a path, of all methods, with the path's parameters. Literal parts come before parameters.
    func find(_ path: String) -> [(route: Route, values: [String: String])] {
        let parts = path.split(separator: "/", omittingEmptySubsequences: false)
        guard let (node, values) = Self.find(parts[...], [], root) else { return [] }
        return node.routes.map { entry in
            (entry.route, Dictionary(uniqueKeysWithValues: zip(entry.names, values.lazy.map(String.init))))
        }
    }

    private static func insert(_ route: Route, _ segments: ArraySlice<Substring>, _ names: [String], _ node: inout Node)
    {
        guard let segment = segments.first else { return node.routes.append((route, names)) }
        let isParameter = segment.hasPrefix("{")
        insert(
            route, segments.dropFirst(), isParameter ? names + [String(segment.dropFirst().dropLast())] : names,
            &node.next[isParameter ? parameter : segment, default: Node()])
    }

    private static func find(
        _ parts: ArraySlice<Substring>, _ values: [Substring], _ node: Node
    ) -> (node: Node, values: [Substring])? {
        guard let part = parts.first else { return node.routes.isEmpty ? nil : (node, values) }
        if part != parameter, let next = node.next[part], let found = find(parts.dropFirst(), values, next) {
            return found
        }
        return node.next[parameter].flatMap { find(parts.dropFirst(), values + [part], $0) }
    }
}

extension Route {
    /// All parameters, checked.
    func check(_ request: HTTPRequest, _ pathValues: [String: String]) throws(Problem) -> [String: String] {
        var values: [String: String] = [:]
        for parameter in pathParameters {
            let value = pathValues[parameter.name] ?? ""
            guard parameter.accepts(value) else {
                throw Problem(404, "not_found", "\(parameter.name) in the path must be \(parameter.expected)")
            }
            values[parameter.name] = value
        }
        for (name, value) in request.query {
            guard let parameter = query.first(where: { $0.name == name }) else {
                let known = query.isEmpty ? "there are none" : "there are \(query.map(\.name).joined(separator: ", "))"
                throw Problem(400, "unknown_parameter", "unknown query parameter `\(FieldText.shown(name))`: \(known)")
            }
            guard values[name] == nil else {
                throw Problem(400, "repeated_parameter", "the query parameter \(name) is repeated")
            }
            guard parameter.accepts(value) else {
                throw Problem(
                    400, "invalid_parameter", "\(name) is `\(FieldText.shown(value))`: it must be \(parameter.expected)"
                )
            }
            values[name] = value
        }
        if body != nil, request.method != "GET" {
            let type = (request.header("content-type") ?? "").prefix { $0 != ";" }
            guard type.trimmingSpaces.lowercased() == "application/json" else {
                throw Problem(415, "unsupported_media_type", "the content type must be application/json")
            }
        }
        return values
    }
}

extension Substring {
    fileprivate var trimmingSpaces: Substring {
        var text = self
        while text.last == " " { text.removeLast() }
        return text
    }
}
