import Testing
import Text

@Suite struct PrintableTextTests {
    @Test func `ordinary text is not escaped`() {
        for text in ["Größe → 好", "שלום", "e\u{301}", "👩‍👩‍👧", "nul-width\u{200b}\u{200d}", ""] {
            #expect(PrintableText.escaped(text) == text && PrintableText.escaped(json: text) == text)
        }
    }
}
