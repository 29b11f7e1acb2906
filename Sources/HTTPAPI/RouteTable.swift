import HTTPServer
import JobSchema

/// All routes, by path.
struct RouteTable: Sendable {
    private let byCount: [Int: (segments: [[Substring]], routes: [Route])]

    /// Paths that anybody may read by any host name.
    static let probes: Set<String> = ["/healthz", "/readyz"]

    init(_ routes: [Route]) {
        byCount = Dictionary(grouping: routes) { $0.segments.count }.mapValues { routes in
            (segments: routes.map(\.segments), routes: routes)
        }
    }

    /// The routes of a path, of all methods, with the path's parameters. Literal paths come before those with parameters.
    func find(_ path: String) -> [(route: Route, values: [String: String])] {
        let parts = path.split(separator: "/", omittingEmptySubsequences: false)
        guard let (segments, routes) = byCount[parts.count] else { return [] }
        let found = segments.indices.compactMap { index in
            Self.values(segments[index], parts).map { (route: routes[index], values: $0) }
        }
        let fewest = found.map(\.values.count).min()
        return found.filter { $0.values.count == fewest }
    }

    /// The parameters that a path of as many parts gives; `nil` if it is another path.
    private static func values(_ segments: [Substring], _ parts: [Substring]) -> [String: String]? {
        var values: [String: String] = [:]
        for (segment, part) in zip(segments, parts) {
            if segment.hasPrefix("{") {
                values[String(segment.dropFirst().dropLast())] = String(part)
            } else if segment != part {
                return nil
            }
        }
        return values
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
