import Testing
import Text

@Suite struct BoundedTextTests {
    @Test func `short and plain text stays as it is`() {
        #expect("Zwölf 🎵".bounded(utf8Bytes: 20) == "Zwölf 🎵")
        #expect("".bounded(utf8Bytes: 0) == "")
    }

    @Test func `characters that steer a terminal or reverse the text are escaped`() {
        #expect("a\nb\t\u{1b}[0m\u{7f}\u{9b}".bounded(utf8Bytes: 99) == #"a\u000ab\u0009\u001b[0m\u007f\u009b"#)
        #expect("\u{202a}\u{2066}\u{2028}".bounded(utf8Bytes: 99) == #"\u202a\u2066\u2028"#)
    }

    @Test func `bytes are counted, not characters`() {
        let accents = "e" + String(repeating: "\u{301}", count: 60_000)
        #expect(accents.count == 1 && accents.bounded(utf8Bytes: 100).utf8.count <= 103)
        #expect(String(repeating: "\u{1}", count: 100).bounded(utf8Bytes: 100).utf8.count <= 103)
        #expect("Zwölf".prefix(utf8Bytes: 3) == "Zw")
    }
}
