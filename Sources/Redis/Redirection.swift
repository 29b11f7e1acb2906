/// What a node of a cluster answers instead of doing something: nothing has been done then.
enum Redirection: Hashable {
    /// The slot is another node's.
    case moved(host: String, port: UInt16)
    /// The slot is on its way to another node, and the key is there already.
    case asked(host: String, port: UInt16)
    /// The slot is on its way, and no node has everything that the command wants.
    case awaited

    /// Nothing if the reply is no redirection.
    init?(_ reply: RedisValue) {
        guard case .error(let error) = reply else { return nil }
        switch error.code {
        case "MOVED", "ASK":
            // `3999 host:port`; without a host it is the one that answered.
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
