import Testing
import Text

@Suite struct PercentEncodingTests {
    @Test func `a path keeps what it may hold, and any name survives the round trip`() {
        let path = "/a b/100%/ü?#[]:@~.mp3\u{1}"
        let encoded = PercentEncoding.encoded(path: path)
        #expect(encoded == "/a%20b/100%25/%C3%BC%3F%23%5B%5D:@~.mp3%01")
        #expect(PercentEncoding.decoded(encoded) == path)
    }

    @Test func `each byte is written with two digits`() {
        #expect(([0, 0x0A, 0xFF] as [UInt8]).hexadecimal == "000aff")
    }
}
