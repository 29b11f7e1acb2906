import Testing
import Text

@Suite struct PercentEncodingTests {
    @Test func `keeps what a path may hold and takes any name there and back`() {
        let path = "/a b/100%/ü?#[]:@~.mp3\u{1}"
        let encoded = PercentEncoding.encoded(path: path)
        #expect(encoded == "/a%20b/100%25/%C3%BC%3F%23%5B%5D:@~.mp3%01")
        #expect(PercentEncoding.decoded(encoded) == path)
    }

    @Test func `writes two digits for each byte`() {
        #expect(([0, 0x0A, 0xFF] as [UInt8]).hexadecimal == "000aff")
    }
}
