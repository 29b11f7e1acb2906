import Conversion
import Encoding
import FoundationEssentials
import Lifecycle
import MediaTypes
import TestSupport
import Testing

/// The gains that AC-3 carries for players, and samples that integers cannot hold.
@Suite(.failureReport, .ownThread, .timeLimit(.minutes(5))) struct DynamicRangeTests {
    @Test(arguments: [(nil, 0.5), (1, 0.5), (0, 1), (0.5, 0.7071)] as [(Double?, Double)])
    func `the drc field sets how much of the gain that AC-3 carries is applied`(_ drc: Double?, _ gain: Double)
        async throws
    {
        let path = try await halved()
        let result = try convert(try MemoryFile(path: path), SourceSettings(drc: drc), .f32)
        #expect(result.settings["drc"] == Setting(requested: drc.map { "\($0)" }, effective: "\(drc ?? 1)"))
        let judged = await Studio.shared.output("f32")
        try await Studio.ffmpeg(
            ["-cons_noisegen", "1", "-drc_scale", "\(drc ?? 1)", "-i", path, "-f", "f32le", judged])
        let expected = try fileBytes(judged).withUnsafeBytes { Array($0.bindMemory(to: Float.self)) }
        let isSame = result.samples == expected
        #expect(isSame)
        let peak = Double(expected.dropFirst(4800).map(\.magnitude).max() ?? 0)
        #expect(abs(peak / 0.5 - gain) < 0.02, "\(peak)")
    }

    @Test func `packets of AC-3 cannot be copied if a job gives drc`() async throws {
        let file = try MemoryFile(path: try await halved())
        for (drc, isCopied) in [(nil, true), (0.5, false)] as [(Double?, Bool)] {
            var rendition = Rendition(format: "ac3")
            rendition.passthrough = .auto
            let plan = ConversionPlan(source: SourceSettings(drc: drc), renditions: [rendition])
            let result = try Converter.run(
                source: file, stores: OneStore(MemoryFile()), plan: plan, stop: CancellationFlag(), progress: { _ in })[
                    0
                ].get()
            #expect(result.copied == isCopied)
        }
    }

    @Test(arguments: ["wav", "flac", "alac", "wv", "aiff"])
    func `samples that an integer cannot hold are counted in a warning`(_ format: String) async throws {
        let source = try await wave([0.5, 1.5, -2, 1, -1, 0.25, 3, -0.75] as [Float])
        let result = try await made(source, Rendition(format: format, sampleFormat: .s16))
        #expect(result.warnings.map(\.code) == ["clipped"])
        #expect(result.warnings.first?.message.hasPrefix("3 samples exceed full scale, by up to 9.5 dB") == true)
        guard format == "wav" else { return }
        #expect(try await made(source, Rendition(format: format, sampleFormat: .f32)).warnings.isEmpty)
    }

    @Test func `samples that a new rate lifts over full scale are counted in a warning`() async throws {
        let square = (0..<4410).map { Int16($0 / 20 % 2 == 0 ? 32_767 : -32_768) }
        let source = try await wave(square, "s16le")
        #expect(try await made(source, Rendition(format: "wav")).warnings.isEmpty)
        var faster = Rendition(format: "wav", sampleFormat: .s16)
        faster.sampleRate = 48_000
        let result = try await made(source, faster)
        #expect(result.warnings.map(\.code) == ["clipped"])
        #expect(result.samples == 4800)
    }

    @Test func `a soft lossy source has no samples clipped, and a loud one has`() async throws {
        for (volume, codes) in [("0.5", []), ("4", ["clipped"])] as [(String, [String])] {
            let path = try await Studio.shared.music(as: "volume-\(volume).mp3", ["-af", "volume=\(volume)"])
            #expect(try await made(path, Rendition(format: "wav")).warnings.map(\.code) == codes)
            #expect(try await made(path, Rendition(format: "m4a")).warnings.isEmpty)
        }
    }

    private func made(_ path: String, _ rendition: Rendition) async throws -> ConversionResult {
        try await MediaTests.convert(path, rendition).result
    }

    private func convert(
        _ file: MemoryFile, _ source: SourceSettings, _ format: SampleFormat
    ) throws -> (samples: [Float], settings: [String: Setting]) {
        let made = MemoryFile()
        let plan = ConversionPlan(source: source, renditions: [Rendition(format: "wav", sampleFormat: format)])
        let result = try Converter.run(
            source: file, stores: OneStore(made), plan: plan, stop: CancellationFlag(), progress: { _ in })[0].get()
        return (try made.samples(), result.settings)
    }

    /// A tone at half of full scale in AC-3, each frame of which asks for half of the level (ETSI TS 102 366, 4.3 and 7.7.1).
    private func halved() async throws -> String {
        let plain = try await Studio.shared.source(
            "plain.ac3",
            ["-f", "lavfi", "-i", "aevalsrc='0.5*sin(2*PI*440*t)':s=48000:d=1", "-ac", "1", "-b:a", "640k"])
        var bytes = try fileBytes(plain)
        let size = 2560
        for start in stride(from: 0, to: bytes.count, by: size) {
            bytes.replaceSubrange(start..<start + size, with: try halved(Array(bytes[start..<start + size])))
        }
        let path = await Studio.shared.output("ac3")
        try Data(bytes).write(to: URL(filePath: path))
        return path
    }

    private func halved(_ frame: [UInt8]) throws -> [UInt8] {
        var bits = frame.flatMap { byte in (0..<8).map { byte >> (7 - $0) & 1 } }
        // One channel, no low-frequency effects, and nothing optional: the first block begins with its two flags at bit 65.
        let isPlain = bits[48...51].elementsEqual([0, 0, 1, 0]) && bits[67] == 0
        try #require(isPlain)
        // Padding makes room for eight bits more before the last 18.
        let end = bits.count - 18
        let hasRoom = !bits[end - 8..<end].contains(1)
        try #require(hasRoom)
        bits.removeSubrange(end - 8..<end)
        bits[67] = 1
        bits.insert(contentsOf: [1, 1, 1, 0, 0, 0, 0, 0], at: 68)
        var made = stride(from: 0, to: bits.count, by: 8).map { bits[$0..<$0 + 8].reduce(0) { $0 << 1 | $1 } }
        var sum: UInt16 = 0
        for byte in made[2..<made.count - 2] {
            sum ^= UInt16(byte) << 8
            for _ in 0..<8 { sum = sum & 0x8000 == 0 ? sum << 1 : sum << 1 ^ 0x8005 }
        }
        (made[made.count - 2], made[made.count - 1]) = (UInt8(sum >> 8), UInt8(sum & 0xFF))
        return made
    }
}
