import Testing

@testable import Requests

@Suite struct AddressPolicyTests {
    @Test func `a closed port is refused at every address, allowed or not`() throws {
        let policy = AddressPolicy(allowedHosts: ["10.0.0.0/8"], closedPorts: [6379])
        for address in ["10.0.0.1", "93.184.216.34"] {
            #expect(policy.permits(try #require(IPAddress(address)), host: address, port: 6380))
            #expect(!policy.permits(try #require(IPAddress(address)), host: address, port: 6379))
        }
    }

    @Test(arguments: [
        "0.0.0.0", "0.1.2.3", "10.0.0.1", "10.255.255.255", "100.64.0.1", "100.127.255.255", "127.0.0.1", "127.1.2.3",
        "168.63.129.16", "169.254.169.254", "172.16.0.1", "172.31.255.255", "192.0.0.1", "192.0.2.1", "192.88.99.1",
        "192.168.1.1", "198.18.0.1", "198.19.255.255", "198.51.100.7", "203.0.113.9", "224.0.0.1", "239.1.1.1",
        "240.0.0.1", "255.255.255.255", "::", "::1", "::7f00:1", "::ffff:127.0.0.1", "::ffff:10.0.0.1",
        "::ffff:169.254.169.254", "64:ff9b::7f00:1", "64:ff9b::a9fe:a9fe", "64:ff9b:1::1", "2002:7f00:1::",
        "2002:a00:1::1", "2002:c0a8:101::", "2001::1", "2001:db8::1", "3fff::1", "100::1", "fc00::1",
        "fd00:ec2::254", "fe80::1", "fec0::1", "ff02::1", "5f00::1", "4000::1",
    ])
    func `an address that is not public is refused`(text: String) throws {
        let address = try #require(IPAddress(text))
        #expect(!AddressPolicy.isPublic(address))
        #expect(!AddressPolicy(allowedHosts: []).permits(address, host: "example.org", port: 80))
    }

    @Test(arguments: [
        "1.1.1.1", "8.8.8.8", "9.255.255.255", "11.0.0.0", "100.63.255.255", "100.128.0.0", "126.255.255.255",
        "128.0.0.1", "169.253.255.255", "172.15.255.255", "172.32.0.0", "192.0.1.1", "192.167.255.255",
        "198.17.255.255",
        "198.20.0.0", "223.255.255.255", "2606:4700::1111", "2a00:1450::1", "::ffff:8.8.8.8", "64:ff9b::808:808",
        "2002:808:808::1",
    ])
    func `a public address passes`(text: String) throws {
        #expect(AddressPolicy.isPublic(try #require(IPAddress(text))))
    }

    @Test(arguments: [
        ("intranet", "10.0.0.5", "intranet", 80, true),
        ("intranet", "10.0.0.5", "Intranet.", 8080, true),
        ("intranet", "10.0.0.5", "evil.example", 80, false),
        ("intranet:8080", "10.0.0.5", "intranet", 8080, true),
        ("intranet:8080", "10.0.0.5", "intranet", 80, false),
        ("10.0.0.5", "10.0.0.5", "any.example", 80, true),
        ("10.0.0.5", "10.0.0.6", "any.example", 80, false),
        ("10.0.0.5:81", "10.0.0.5", "any.example", 81, true),
        ("10.0.0.5:81", "10.0.0.5", "any.example", 80, false),
        ("10.0.0.0/9", "10.127.0.1", "any.example", 80, true),
        ("10.0.0.0/9", "10.128.0.1", "any.example", 80, false),
        ("10.0.0.0/8", "::ffff:10.1.2.3", "any.example", 80, true),
        ("fd00::/8", "fd12::1", "any.example", 80, true),
        ("fd00::/8", "fc12::1", "any.example", 80, false),
        ("::1", "::1", "localhost", 80, true),
        ("[::1]:8000", "::1", "localhost", 8000, true),
        ("[::1]:8000", "::1", "localhost", 80, false),
        ("10.0.0.0/40", "10.0.0.1", "any.example", 80, false),
    ])
    func `an address that the operator names is allowed`(
        entry: String, text: String, host: String, port: Int, isAllowed: Bool
    ) throws {
        let address = try #require(IPAddress(text))
        #expect(AddressPolicy(allowedHosts: [entry]).permits(address, host: host, port: port) == isAllowed)
    }
}
