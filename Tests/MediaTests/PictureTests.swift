import Bytes
import Encoding
import FoundationEssentials
import MediaTypes
import TestSupport
import Testing

@Suite(.failureReport, .timeLimit(.minutes(5))) struct PictureTests {
    /// Three seconds of stereo at 8 kHz, 16 bits, as numbers: a slow saw tooth, and a square wave of full scale.
    private static let count = 24_000
    private static let left = (0..<count).map { Int16(truncatingIfNeeded: $0 * 37 % 40_000 - 20_000) }
    private static let right = (0..<count).map { $0 / 4 % 2 == 0 ? Int16.max : Int16.min }

    private func stereo() async throws -> String {
        var bytes = Data()
        for index in 0..<Self.count {
            for sample in [Self.left[index], Self.right[index]] {
                withUnsafeBytes(of: sample.littleEndian) { bytes.append(contentsOf: $0) }
            }
        }
        let raw = await Studio.shared.output("raw")
        try bytes.write(to: URL(filePath: raw))
        return try await Studio.shared.source("picture.wav", ["-f", "s16le", "-ar", "8000", "-ac", "2", "-i", raw])
    }

    private struct Peaks: Decodable {
        let version, channels, sample_rate, samples_per_pixel, bits, length: Int
        let data: [Int]
    }

    private func peaks(_ source: String, _ change: (inout PictureSettings) -> Void) async throws -> Peaks {
        var rendition = Rendition(format: "peaks")
        change(&rendition.picture)
        let made = try await convert(source, rendition)
        #expect(made.result.codec == "peaks" && made.result.samples == Int64(Self.count))
        #expect(made.result.bytes == Int64(try fileBytes(made.path).count))
        return try JSONDecoder().decode(Peaks.self, from: Data(contentsOf: URL(filePath: made.path)))
    }

    /// The numbers of a `.dat`, by audiowaveform's description of it.
    private func dat(_ source: String, _ change: (inout PictureSettings) -> Void) async throws -> Peaks {
        var rendition = Rendition(format: "peaks")
        change(&rendition.picture)
        rendition.picture.form = .dat
        let bytes = try fileBytes(try await convert(source, rendition).path)
        let head = (0..<6).map { field -> Int in
            (0..<4).reduce(0) { sum, place -> Int in sum | Int(bytes[field * 4 + place]) << (place * 8) }
        }
        let body = bytes.dropFirst(24)
        let narrow = head[1] == 1
        let data =
            narrow
            ? body.map { Int(Int8(bitPattern: $0)) }
            : stride(from: 24, to: bytes.count, by: 2).map {
                Int(Int16(bitPattern: UInt16(bytes[$0]) | UInt16(bytes[$0 + 1]) << 8))
            }
        return Peaks(
            version: head[0], channels: head[5], sample_rate: head[2], samples_per_pixel: head[3],
            bits: narrow ? 8 : 16, length: head[4], data: data)
    }

    /// The lowest and highest of each so many samples.
    private static func extents(_ lanes: [[Int]], _ zoom: Int) -> [Int] {
        stride(from: 0, to: count, by: zoom).flatMap { start in
            lanes.flatMap { lane in
                let part = lane[start..<min(start + zoom, count)]
                return [part.min()!, part.max()!]
            }
        }
    }

    @Test func `peaks are the lowest and highest samples`() async throws {
        let source = try await stereo()
        let (left, right) = (Self.left.map(Int.init), Self.right.map(Int.init))
        let mean = zip(left, right).map { ($0 + $1) / 2 }
        let split = try await peaks(source) {
            $0.splitsChannels = true
            $0.zoom = .samples(100)
        }
        #expect(split.version == 2 && split.channels == 2 && split.sample_rate == 8000 && split.bits == 16)
        #expect(split.samples_per_pixel == 100 && split.length == 240)
        #expect(split.data == Self.extents([left, right], 100))
        let mixed = try await peaks(source) { _ in }
        #expect(mixed.channels == 1 && mixed.samples_per_pixel == 256 && mixed.length == 94)
        #expect(mixed.data == Self.extents([mean], 256))
        let narrow = try await peaks(source) {
            $0.bits = 8
            $0.zoom = .perSecond(30)
        }
        #expect(narrow.samples_per_pixel == 266 && narrow.bits == 8)
        #expect(narrow.data == Self.extents([mean], 266).map { $0 / 256 })
    }

    @Test(arguments: [8, 16]) func `both forms of peaks have the same values`(_ bits: Int) async throws {
        let source = try await stereo()
        let change: (inout PictureSettings) -> Void = {
            $0.bits = bits
            $0.splitsChannels = true
        }
        let (text, binary) = (try await peaks(source, change), try await dat(source, change))
        #expect(text.data == binary.data && text.length == binary.length && binary.length == 94)
        #expect(binary.version == 2 && binary.channels == 2 && binary.sample_rate == 8000)
        #expect(binary.samples_per_pixel == 256 && binary.bits == bits)
    }

    @Test func `peaks show the sound after its processing`() async throws {
        var rendition = Rendition(format: "peaks")
        rendition.sound.gain = -20 * 0.30102999566398120  // half
        let made = try await convert(try await stereo(), rendition)
        let peaks = try JSONDecoder().decode(Peaks.self, from: Data(contentsOf: URL(filePath: made.path)))
        let mean = zip(Self.left, Self.right).map { (Int($0) + Int($1)) / 4 }
        #expect(zip(peaks.data, Self.extents([mean], 256)).allSatisfy { abs($0 - $1) <= 1 })
    }

    /// The pixels of a picture as ffmpeg reads them, row by row from the top.
    private func pixels(_ path: String, _ size: PictureSize) async throws -> [[[UInt8]]] {
        let raw = await Studio.shared.output("rgba")
        try await Studio.ffmpeg(["-i", path, "-f", "rawvideo", "-pix_fmt", "rgba", raw])
        let bytes = try fileBytes(raw)
        try #require(bytes.count == size.width * size.height * 4)
        return (0..<size.height).map { y in
            (0..<size.width).map { x in Array(bytes[(y * size.width + x) * 4..<(y * size.width + x) * 4 + 4]) }
        }
    }

    @Test(arguments: [PictureSize(width: 300, height: 90), PictureSize(width: 7, height: 91)])
    func `a waveform has a lane for each channel`(_ size: PictureSize) async throws {
        // Left is silent, right fills its lane; there are more samples than bins, so bins are folded.
        let source = try await Studio.shared.source(
            "lanes.wav",
            ["-i", try await stereo(), "-af", "aloop=loop=3:size=24000,pan=stereo|c0=0*c0|c1=c1", "-ar", "8000"])
        var rendition = Rendition(format: "png")
        rendition.picture.size = size
        rendition.picture.foreground = PictureColor(red: 10, green: 20, blue: 30, alpha: 200)
        rendition.picture.background = PictureColor(red: 1, green: 2, blue: 3, alpha: 0)
        let made = try await convert(source, rendition)
        #expect(made.result.codec == "png" && made.result.format == "png" && !made.result.copied)
        let rows = try await pixels(made.path, size)
        let (ink, paper): ([UInt8], [UInt8]) = ([10, 20, 30, 200], [1, 2, 3, 0])
        let middle = size.height / 2
        for (y, row) in rows.enumerated() {
            let isInk = y == middle / 2 || y >= middle
            #expect(row.allSatisfy { $0 == (isInk ? ink : paper) }, "row \(y)")
        }
    }

    @Test func `the height of a waveform is its level`() async throws {
        // A ramp of one second from silence to full scale and a lane of 200 rows: each column is twice as high.
        let source = try await Studio.shared.source(
            "swell.wav", ["-f", "lavfi", "-i", "aevalsrc='t*(1-2*mod(n,2))':s=44100:d=1"])
        var rendition = Rendition(format: "png")
        rendition.picture.size = PictureSize(width: 100, height: 200)
        let rows = try await pixels(try await convert(source, rendition).path, rendition.picture.size!)
        for column in 0..<100 {
            let ink = rows.filter { $0[column] == [0x33, 0x66, 0xCC, 255] }.count
            #expect(abs(ink - 2 * (column + 1)) <= 2, "column \(column): \(ink)")
            #expect(ink + rows.filter { $0[column] == [255, 255, 255, 255] }.count == 200)
        }
    }

    @Test(arguments: [2.0, 40.0]) func `a sine is brightest at its frequency`(_ seconds: Double) async throws {
        let source = try await Studio.shared.source(
            "one-kilohertz-\(seconds).wav",
            ["-f", "lavfi", "-i", "aevalsrc='if(lt(t,\(seconds / 2)),sin(2000*PI*t),0)':s=16000:d=\(seconds)"])
        var rendition = Rendition(format: "spectrogram")
        let size = PictureSize(width: 200, height: 160)
        rendition.picture.size = size
        let rows = try await pixels(try await convert(source, rendition).path, size)
        // A row is 50 Hz, the lowest at the bottom: 1 kHz begins the row 20 from there.
        for column in 8..<90 {
            let bright = (0..<160).max { rows[$0][column][1] < rows[$1][column][1] }!
            #expect(bright == 139, "column \(column)")
            #expect(rows[bright][column][0] > 240 && rows[bright][column][1] > 220)
            #expect(rows[20][column] == [68, 1, 84, 255])
        }
        for column in 110..<200 { #expect(rows.allSatisfy { $0[column] == [68, 1, 84, 255] }, "column \(column)") }
    }

    /// Bins of 8 samples are left of 24,000 for 500 points, of which 6 make a point, and for 499 points 7.
    @Test(arguments: [(500, 48, 500), (499, 56, 429), (4000, 6, 4000), (1, 24_576, 1)])
    func `a number of points is kept for any length`(_ most: Int, _ zoom: Int, _ length: Int) async throws {
        let source = try await stereo()
        let peaks = try await peaks(source) {
            $0.zoom = .points(most)
            $0.splitsChannels = true
        }
        #expect(peaks.samples_per_pixel == zoom && peaks.length == length, "\(peaks.samples_per_pixel) \(peaks.length)")
        #expect(peaks.data.count == length * 4)
        for point in 0..<length {
            let samples = point * zoom..<min(point * zoom + zoom, Self.count)
            let (left, right) = (Self.left[samples], Self.right[samples])
            let lows = [left, right].flatMap { [Int($0.min()!), Int($0.max()!)] }
            #expect(Array(peaks.data[point * 4..<point * 4 + 4]) == lows, "point \(point)")
        }
    }

    @Test func `an impossible picture is refused`() async throws {
        let source = try await stereo()
        var low = Rendition(format: "png")
        low.picture.size = PictureSize(width: 10, height: 1)
        #expect(await failure(source, low)?.sentence.contains("size is 10x1, too low for 2 channels") == true)
        var fast = Rendition(format: "peaks")
        fast.picture.zoom = .perSecond(8001)
        #expect(await failure(source, fast)?.sentence.contains("pixels_per_second is 8001") == true)
        var copy = Rendition(format: "spectrogram")
        copy.passthrough = .require
        #expect(await failure(source, copy)?.sentence.contains("passthrough is require") == true)
    }
}
