import Configuration
import SlotIPC
import Testing

@Suite struct AllowedHostTests {
    @Test(arguments: [
        "intranet", "Intranet.", "a.example.org:8080", "my_host", "10.0.0.5", "10.0.0.5:81", "10.0.0.0/9", "fd00::/8",
        "::1", "[::1]", "[::1]:8000", "0.0.0.0/0",
    ])
    func `hosts, addresses and networks are accepted`(_ text: String) throws {
        try AllowedHost.check(text, from: "--allow-host")
    }

    @Test(arguments: [
        "!!", "", " ", "a b", "http://intranet", "10.0.0.0/40", "10.0.0.0/", "intranet/8", "a:0", "a:70000", "a:b",
        "[::1", "[10.0.0.1]", "*.example.org", "ünï.example",
    ])
    func `anything else is refused`(_ text: String) {
        let failure = #expect(throws: SettingError.self) { try AllowedHost.check(text, from: "--allow-host") }
        #expect(failure?.message.hasPrefix("--allow-host is '\(text)': expected a host") == true)
    }
}
