import JobSchema
import MediaTypes
import Testing

@testable import respool

@Suite struct DrawingTests {
    @Test(
        arguments: [
            (0, "0:00"), (7.99, "0:07"), (300, "5:00"), (3599.9, "59:59"), (3723, "1:02:03"), (36_000, "10:00:00"),
            (-1, "-:--"), (.infinity, "-:--"), (.nan, "-:--"),
        ] as [(Double, String)])
    func `a duration is written as a clock`(seconds: Double, text: String) {
        #expect(Formatting.clock(seconds) == text)
    }

    @Test func `a short length is written with decimals`() {
        #expect(Formatting.length(0.1395) == "0.14 s")
        #expect(Formatting.length(10) == "0:10")
    }

    @Test(
        arguments: [
            (0, "0 ms"), (0.84, "840 ms"), (12, "12 s"), (119, "119 s"), (180, "3 min"), (7200, "2 h"),
            (200_000, "2 d"),
        ] as [(Double, String)])
    func `a time span is written in the largest fitting unit`(seconds: Double, text: String) {
        #expect(Formatting.span(seconds) == text)
    }

    @Test(
        arguments: [
            (0, "0 B"), (999, "999 B"), (1000, "1.0 kB"), (9949, "9.9 kB"), (12_345, "12 kB"), (4_801_234, "4.8 MB"),
            (999_499_999, "999 MB"), (999_500_000, "1.0 GB"), (Int64.max, "9223 PB"),
        ] as [(Int64, String)])
    func `a number of bytes is written with a unit`(bytes: Int64, text: String) {
        #expect(Formatting.bytes(bytes) == text)
    }

    @Test func `counts, percentages, speeds and decimals are formatted`() {
        #expect(Formatting.count(1_234_567) == "1 234 567")
        #expect(Formatting.count(1, "job") == "1 job")
        #expect(Formatting.count(1000, "job") == "1 000 jobs")
        #expect(Formatting.percent(0.999) == "99 %")
        #expect(Formatting.percent(7) == "100 %")
        #expect(Formatting.speed(61.34) == "61×")
        #expect(Formatting.speed(0.94, hasUnicode: false) == "0.9x")
        #expect(Formatting.decimal(2.0005, places: 3) == "2.001" || Formatting.decimal(2.0005, places: 3) == "2.000")
        #expect(Formatting.decimal(-0.5, places: 2) == "-0.50")
        #expect(Formatting.decimal(299.99999, places: 3) == "300.000")
    }

    @Test(
        arguments: [
            (0, "░░░░", "----"), (0.5, "██░░", "##--"), (0.53125, "██▏░", "##--"), (1, "████", "####"),
            (-3, "░░░░", "----"),
            (9, "████", "####"),
        ] as [(Double, String, String)])
    func `a bar is filled in proportion`(fraction: Double, blocks: String, hashes: String) {
        #expect(ProgressBar(width: 4, hasUnicode: true).text(fraction) == blocks)
        #expect(ProgressBar(width: 4, hasUnicode: false).text(fraction) == hashes)
    }

    @Test func `every bar has the requested width`() {
        for step in 0...1000 {
            #expect(ProgressBar(width: 17, hasUnicode: true).text(Double(step) / 1000).count == 17)
        }
        #expect(ProgressBar(width: 3, hasUnicode: false).text(nil) == "...")
    }

    @Test func `a conversion's line shows position, speed and remaining time`() {
        let progress = Progress(
            phase: .converting, position: 126.1, duration: 300, fraction: 0.4203, speed: 61.3, eta: 2.8)
        let line = ProgressLine(label: "a", progress: progress)
        #expect(line.figures(hasUnicode: true) == " 42 %  2:06 / 5:00  61×  0:03 left")
        #expect(ProgressLine(label: "a", progress: Progress(phase: .opening)).figures(hasUnicode: true) == "opening")
        #expect(ProgressLine(label: "a", progress: nil).figures(hasUnicode: true) == "starting")
    }

    @Test func `the progress of each of several outputs is shown`() {
        let progress = Progress(
            phase: .converting, position: 1, duration: 2, fraction: 0.5,
            outputs: [.init(.converting, fraction: 0.5), .init(.failed, fraction: 0.25)])
        let line = ProgressLine(label: "a.wav > mp3+flac", progress: progress)
        let terminal = Terminal(descriptor: -1)
        let lines = line.outputLines("mp3+flac", ProgressLineStyle(terminal: terminal, lines: [line]))
        #expect(lines.count == 2)
        #expect(lines[0].hasPrefix("  0 mp3 ") && lines[0].hasSuffix(" 50 %"), "\(lines[0])")
        #expect(lines[1].hasPrefix("  1 flac ") && lines[1].hasSuffix(" 25 %  failed"), "\(lines[1])")
        let single = ProgressLine(label: "a", progress: Progress(phase: .converting, fraction: 0.5))
        #expect(single.outputLines("mp3", ProgressLineStyle(terminal: terminal, lines: [single])).isEmpty)
    }

    @Test func `lines of several jobs fit into 80 columns, with whole ids, bars and aligned figures`() {
        func line(_ number: Int, _ fraction: Double, _ speed: Double, _ eta: Double) -> ProgressLine {
            ProgressLine(
                id: "1795200918742-1f0c33e0\(number)", label: "the-same-long-name-of-a-programme.flac → mp3",
                progress: Progress(
                    phase: .converting, position: 3725 * fraction, duration: 3725, fraction: fraction, speed: speed,
                    eta: eta))
        }
        let lines = [line(1, 0.05, 9.9, 3700), line(2, 1, 1234, 3), line(3, 0.42, 61, 61)]
        let style = ProgressLineStyle(terminal: Terminal(descriptor: -1), lines: lines)
        #expect(style.columns == 80 && style.barWidth >= 10)
        let texts = lines.map { $0.text(style) }
        #expect(texts.map { TextLayout.columns($0) } == [80, 80, 80])
        for (line, text) in zip(lines, texts) { #expect(text.hasPrefix(line.id! + "  ")) }
        #expect(texts.allSatisfy { $0.hasSuffix(" left") })
        // Percent signs and speeds stand below each other.
        let places = texts.map { text in
            text.indices.filter { "%×x".contains(text[$0]) }.map { text.distance(from: text.startIndex, to: $0) }
        }
        #expect(Set(places).count == 1, "\(texts)")
    }

    @Test func `text is truncated to its columns`() {
        #expect(TextLayout.fitted("abc", width: 5) == "abc  ")
        #expect(TextLayout.fitted("abc", width: 5, isRight: true) == "  abc")
        #expect(TextLayout.fitted("abcdef", width: 4) == "abc…")
        #expect(TextLayout.cut("abc", width: 0) == "")
        #expect(TextLayout.wrapped("one two three", width: 7) == ["one two", "three"])
        #expect(TextLayout.wrapped("incomprehensible", width: 4) == ["incomprehensible"])
    }

    @Test func `untrusted text cannot move the cursor`() {
        #expect(TextLayout.printable("a\u{1b}[2Jb\nc\u{9b}d") == "a\\u001b[2Jb\\u000ac\\u009bd")
        #expect(
            TextLayout.printable("a\u{202e}3pm.exe\u{2066}\u{2028}\u{7f}") == "a\\u202e3pm.exe\\u2066\\u2028\\u007f")
        #expect(TextLayout.printable("Größe → 好") == "Größe → 好")
        let line = JSONLine.text(["a\u{202e}\u{9b}ü\n"])
        #expect(line == "[\"a\\u202e\\u009bü\\n\"]")
    }

    @Test func `a table has aligned columns`() {
        var table = Table(["NAME": .left, "N": .right, "WHAT": .left])
        table.append(["a", "10", "x"])
        table.append(["long", "9", ""])
        let terminal = Terminal(descriptor: -1)
        #expect(table.lines(for: terminal) == ["NAME   N  WHAT", "a     10  x", "long   9"])
    }

    @Test(
        arguments: [("stats", "status"), ("enque", "enqueue"), ("xyzzy", nil), ("cancle", "cancel")]
            as [(String, String?)])
    func `a mistyped word gets the nearest suggestion`(text: String, word: String?) {
        #expect(Spelling.nearest(to: text, among: Command.all.map(\.name)) == word)
    }
}
