import Encoding
import FoundationEssentials
import MediaTypes
import TestSupport
import Testing

@Suite(.failureReport, .timeLimit(.minutes(5))) struct GaplessTests {
    /// A pair of the table, and the rate and channels of a source that it takes as they are.
    struct Pair: CustomTestStringConvertible, Sendable {
        let format: String
        let codec: String

        var rate: Int { ["opus": 48_000, "speex": 32_000, "gsm": 8000][codec] ?? 44_100 }
        var testDescription: String { "\(format)/\(codec)" }
        /// Whether ffmpeg leaves padding at the end that our reader takes away by what the file tells.
        var needsReader: Bool {
            (["m4a", "m4b", "mp4", "mov"].contains(format) && !["alac", "pcm", "flac", "ima4"].contains(codec))
                || format == "w64"
        }
    }

    static let pairs = AudioFormat.all.filter { !$0.isSegmented && !$0.isPicture }.flatMap { format in
        format.codecs.map { Pair(format: format.name, codec: $0) }
    }
    .filter { $0.format != "raw" }

    /// A sweep, whose place can be told to the sample; its length is a multiple of no codec's frame.
    private static func sweep(_ rate: Int) async throws -> String {
        let sound = "0.5*sin(2*PI*(120+\(rate / 20)*t)*t)*(0.6+0.4*sin(17*t))"
        return try await Studio.shared.source(
            "sweep-\(rate).wav",
            ["-f", "lavfi", "-i", "aevalsrc='\(sound)':s=\(rate):d=1.3", "-af", "atrim=end_sample=\(rate + 901)"])
    }

    @Test(arguments: [8000, 32_000, 44_100, 48_000])
    func `a result begins and ends where its report says, in every pair`(_ rate: Int) async throws {
        let source = try await Self.sweep(rate)
        let pairs = Self.pairs.filter { $0.rate == rate }
        var made: [Converted] = []
        for pair in pairs { made.append(try await convert(source, Rendition(format: pair.format, codec: pair.codec))) }
        var decoded = try await decode([source] + made.map(\.path), as: Float.self, "f32le")
        for (index, pair) in pairs.enumerated() where pair.codec == "speex" {
            decoded[index + 1] = try await decode(made[index].path, as: Float.self, "f32le", Studio.speex)
        }
        for ((pair, converted), samples) in zip(zip(pairs, made), decoded.dropFirst()) {
            let gapless = converted.result.gapless
            let (length, begin) = (decoded[0].count, gapless.start)
            #expect(converted.result.samples == Int64(length), "\(pair)")
            if pair.needsReader {
                #expect((gapless.start, gapless.end) == (0, 0), "\(pair)")
                #expect((length...length + 4 * 1152).contains(samples.count), "\(pair): \(samples.count)")
            } else {
                #expect(samples.count == begin + length + gapless.end, "\(pair): \(samples.count), \(gapless)")
            }
            let shifts =
                ["speex", "gsm"].contains(pair.codec) ? [8, 13, 40, 160, 481] : [1, 2, 3, 5, 8, 13, 40, 160, 481]
            expectAligned(samples, decoded[0], begin, shifts, "\(pair)")
        }
    }

    @Test func `audio of an odd number of bytes is counted to the byte`() async throws {
        let source = try await Self.sweep(8000)
        var paths = [source]
        for format in ["wav", "rf64", "w64", "aiff", "caf", "au"] {
            paths.append(try await convert(source, Rendition(format: format, sampleFormat: .s24)).path)
        }
        let decoded = try await decode(paths, as: Int16.self, "s16le")
        #expect(decoded[0].count % 2 == 1)
        for samples in decoded.dropFirst() { #expect(samples == decoded[0]) }
        #expect(
            try Data(contentsOf: URL(filePath: paths[2]))[28..<36].reversed().reduce(0) { $0 << 8 | Int($1) } == 26_703)
    }

    /// Holds a decoded sweep against the original: in the middle to the sample, and at its end for being there.
    private func expectAligned(_ samples: [Float], _ original: [Float], _ begin: Int, _ shifts: [Int], _ name: String) {
        let middle = original.count / 4..<original.count / 4 + min(4000, original.count / 4)
        let here = correlation(samples, original, middle, begin)
        for shift in shifts {
            #expect(here > correlation(samples, original, middle, begin + shift), "\(name) is early by \(shift)")
            #expect(here > correlation(samples, original, middle, begin - shift), "\(name) is late by \(shift)")
        }
        #expect(here > 0.8, "\(name): \(here)")
        let end = correlation(samples, original, original.count - 400..<original.count, begin)
        #expect(end > 0.6, "\(name) loses its end: \(end)")
    }

    /// How alike some samples of the original and those at the same place of another are, that being shifted.
    private func correlation(_ samples: [Float], _ original: [Float], _ range: Range<Int>, _ shift: Int) -> Double {
        guard range.lowerBound + shift >= 0, range.upperBound + shift <= samples.count else { return -1 }
        var (product, one, other) = (0.0, 1e-9, 1e-9)
        samples.withUnsafeBufferPointer { samples in
            original.withUnsafeBufferPointer { original in
                for index in range {
                    let (left, right) = (Double(samples[index + shift]), Double(original[index]))
                    product += left * right
                    one += left * left
                    other += right * right
                }
            }
        }
        return product / (one * other).squareRoot()
    }

    @Test(arguments: [("m4a", "aac"), ("mp4", "aac"), ("mov", "aac"), ("mp4", "opus"), ("mp3", "mp3"), ("w64", "pcm")])
    func `a result read again has not one sample more`(_ format: String, _ codec: String) async throws {
        let source = try await Self.sweep(codec == "opus" ? 48_000 : 44_100)
        let converted = try await convert(source, Rendition(format: format, codec: codec))
        let back = try await convert(converted.path, Rendition(format: "wav", sampleFormat: .f32))
        #expect(back.result.samples == converted.result.samples)
        let decoded = try await decode([source, back.path], as: Float.self, "f32le")
        expectAligned(decoded[1], decoded[0], 0, [1, 2, 3, 5, 8, 13, 40, 160, 481], format)
    }

    @Test func `delay and padding are signalled to iTunes`() async throws {
        let converted = try await convert(try await Self.sweep(44_100), Rendition(format: "m4a"))
        let told = try await ffprobe(converted.path, "format_tags=iTunSMPB")
        let fields = told.split(separator: " ").compactMap { Int($0, radix: 16) }
        #expect(fields.count == 12 && fields[1] == 1024 && fields[3] == 45_001, "\(told)")
        #expect((fields[1] + fields[2] + fields[3]) % 1024 == 0)
    }

    @Test func `delay and padding of a stream copy are signalled to iTunes`() async throws {
        let source = try await Studio.shared.music(as: "copy.m4a", ["-c:a", "aac", "-aac_pns", "0", "-b:a", "128k"])
        var rendition = Rendition(format: "m4a")
        rendition.passthrough = .require
        let cut = (start: MediaTime(value: 1, timescale: 1), end: MediaTime(value: 50_001, timescale: 44_100))
        let cases: [(Converted, priming: Int?, samples: Int)] = [
            (try await convert(source, rendition), 1024, 3 * 44_100),
            // The packet before the one that holds the first sample is needed to decode it.
            (try await convert(source, rendition, start: cut.start, end: cut.end), nil, 5901),
        ]
        for (converted, priming, samples) in cases {
            let told = try await ffprobe(converted.path, "format_tags=iTunSMPB")
            let fields = told.split(separator: " ").compactMap { Int($0, radix: 16) }
            try #require(fields.count == 12, "\(told)")
            #expect(fields[3] == samples && fields[1] == priming ?? fields[1] && fields[1] >= 1024, "\(told)")
            let packets = try await ffprobe(converted.path, "stream=nb_frames")
            #expect(fields[1] + fields[2] + fields[3] == Int(packets)! * 1024, "\(told)")
        }
    }

    @Test func `the LAME tag is signed with a name that players recognise`() async throws {
        let converted = try await convert(try await Self.sweep(44_100), Rendition(format: "mp3"))
        let bytes = try fileBytes(converted.path)
        let mark = bytes.firstRange(of: Array("Xing".utf8)) ?? bytes.firstRange(of: Array("Info".utf8))
        let name = try #require(mark).lowerBound + 120
        #expect(String(decoding: bytes[name..<name + 4], as: UTF8.self) == "Lavc")
        #expect(UInt8(ascii: "0")...UInt8(ascii: "9") ~= bytes[name + 4])
    }

    /// Lengths some of whose padding begins in the last packet but one.
    @Test(arguments: [
        (22_050, 9258), (22_050, 8669), (44_100, 20_744), (44_100, 20_780), (44_100, 20_732), (44_100, 20_792),
    ])
    func `all padding of an MP3 is signalled, also more than a packet`(_ rate: Int, _ samples: Int) async throws {
        let source = try await Studio.shared.source(
            "padding-\(rate)-\(samples).wav",
            ["-f", "lavfi", "-i", "sine=440:r=\(rate):d=1", "-af", "atrim=end_sample=\(samples)"])
        let converted = try await convert(source, Rendition(format: "mp3"))
        let decoded = try await decode([converted.path], as: Float.self, "f32le")
        #expect(decoded[0].count == samples)
    }

    @Test(arguments: ["m4a", "alac", "mp4", "mov"])
    func `the index precedes the audio`(_ format: String) async throws {
        let bytes = try fileBytes(try await convert(try await Self.sweep(44_100), Rendition(format: format)).path)
        let index = try #require(bytes.firstRange(of: Array("moov".utf8)))
        #expect(index.lowerBound < bytes.firstRange(of: Array("mdat".utf8))!.lowerBound)
    }
}
