import JobSchema

extension TransferPolicy {
    /// Closes the ports, and returns those that stay open because jobs or the operator's own servers need them.
    package mutating func close(_ ports: [UInt16]) -> [UInt16] {
        let needed = neededPorts
        closedPorts = ports.filter { !needed.contains($0) }
        return ports.filter(needed.contains)
    }

    private var neededPorts: Set<UInt16> {
        let servers = [proxy, s3.endpoint, s3.container?.url, s3.instanceEndpoint].compactMap(\.self)
        let files = sourceSchemes.union(outputSchemes).map(\.defaultPort)
        return Set(
            [80, 443] + files + servers.compactMap(ServerURL.port)
                + (allowedHosts + allowedOutputHosts).compactMap { ServerURL.port(of: "host://\($0)") })
    }
}

extension FileScheme {
    fileprivate var defaultPort: UInt16 {
        switch self {
        case .ftp: 21
        case .ftps: 990
        case .sftp: 22
        }
    }
}
