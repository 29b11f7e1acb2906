import MediaTypes
import Testing

/// Which files a result may have beside its main one.
@Suite struct PartPatternTests {
    private func rendition(_ format: String, _ change: (inout Rendition) -> Void = { _ in }) -> Rendition {
        var rendition = Rendition(format: format)
        change(&rendition)
        return rendition
    }

    private func mayHave(_ rendition: Rendition, _ suffix: String) -> Bool {
        rendition.partPatterns.contains { $0.matches(suffix) }
    }

    @Test func `a single file has no parts but chapters in the requested form`() {
        #expect(rendition("mp3").partPatterns == [])
        let chapters = rendition("m4a") { $0.tags.chapters = .webvtt }
        #expect(mayHave(chapters, ".chapters.vtt"))
        for suffix in [".chapters.json", ".chapters.vtt.html", "chapters.vtt", ".flac", "", "/.htaccess"] {
            #expect(!mayHave(chapters, suffix), "\(suffix)")
        }
    }

    @Test(arguments: SegmentSettings.Container.allCases)
    func `a stream has the files of each of its variants`(container: SegmentSettings.Container) {
        let stream = rendition("hls") {
            $0.segments.container = container
            $0.segments.bitRates = [64_000, 128_500]
        }
        for rate in stream.segments.bitRates {
            let names = SegmentParts(bitRate: rate)
            #expect(mayHave(stream, names.playlist))
            #expect(mayHave(stream, names.setup) == (container == .fmp4))
            for index in [0, 8, 99_998, 99_999] { #expect(mayHave(stream, names.segment(index, container))) }
            #expect(!mayHave(stream, names.segment(100_000, container)))
        }
        #expect(!mayHave(stream, SegmentParts().playlist) && !mayHave(stream, SegmentParts(bitRate: 96_000).playlist))
        #expect(stream.partPatterns.count == (container == .fmp4 ? 6 : 4))
    }

    @Test(arguments: [
        "1", "00000", "0001", "000001", "+0001", "-0001", " 0001", "00001 ", "0000１", "٠٠٠٠١", "0x001", "",
        "99999999999999999999", "00001/../00001",
    ])
    func `a number has one spelling`(number: String) {
        let stream = rendition("hls")
        #expect(mayHave(stream, "-{token}-00001.m4s"))
        #expect(!mayHave(stream, "-{token}-\(number).m4s"))
    }

    @Test func `names are compared by their bytes`() {
        #expect("\u{212A}" == "K")
        #expect(!PartPattern.single(".K").matches(".\u{212A}"))
        #expect(!PartPattern.numbered(before: "-K", digits: 1, after: "").matches("-\u{212A}1"))
    }
}
