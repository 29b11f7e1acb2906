/// A reply of a cluster's node that did not execute the command.
enum Redirection: Hashable {
    /// Another node has the hash slot.
    case moved(host: String, port: UInt16)
    /// The hash slot is moving to another node, which already has the key.
    case asked(host: String, port: UInt16)
    /// The hash slot is moving, and no node has all keys of the command.
    case awaited

    /// `nil` if the reply is not a redirection.
    init?(_ reply: RedisValue) {
        guard case .error(let error) = reply else { return nil }
        switch error.code {
        case "MOVED", "ASK":
            // `3999 host:port`; without a host, it is the host of the node that replied.
            guard let place = error.message.split(separator: " ").last, let colon = place.lastIndex(of: ":"),
                let port = UInt16(place[place.index(after: colon)...])
            else { return nil }
            let host = String(place[..<colon])
            self = error.code == "MOVED" ? .moved(host: host, port: port) : .asked(host: host, port: port)
        case "TRYAGAIN": self = .awaited
        default: return nil
        }
    }
}
