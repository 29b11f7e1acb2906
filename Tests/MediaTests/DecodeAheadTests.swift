import Bytes
import CLibav
import Demuxing
import FoundationEssentials
import Glibc
import Libav
import Lifecycle
import MediaTypes
import TestSupport
import Testing

@testable import Decoding

/// Sources that several threads decode: the samples and what is reported about them are those of a single thread.
@Suite(.failureReport, .timeLimit(.minutes(5))) struct DecodeAheadTests {
    /// Frames short enough that six seconds have more packets than are decoded before threads are started.
    private static let kinds: [(String, [String])] = [
        ("ahead.flac", ["-frame_size", "512"]), ("ahead.oga", ["-c:a", "flac", "-frame_size", "512"]),
        ("ahead.mka", ["-c:a", "flac", "-frame_size", "512"]),
        ("ahead-24.flac", ["-frame_size", "512", "-sample_fmt", "s32"]),
        ("ahead.wv", ["-frame_size", "1024"]), ("ahead-24.wv", ["-frame_size", "1024", "-sample_fmt", "s32p"]),
        ("ahead-5.1.wv", ["-frame_size", "1024", "-ac", "6"]),
        ("ahead-float.wv", ["-frame_size", "1024", "-sample_fmt", "fltp"]),
    ]

    @Test(arguments: kinds)
    func `several threads decode the samples of one`(_ name: String, _ arguments: [String]) async throws {
        let bytes = try fileBytes(try await Studio.shared.music(seconds: 6, as: name, arguments))
        let one = try await decode(bytes, threads: 1)
        #expect(one.samples == 264_600 && one.error == nil)
        let isAhead = !name.contains("float")
        #expect(try await decode(bytes, threads: 5, isAhead: isAhead) == one)
        let range = TimeRange(start: MediaTime(value: 1, timescale: 1), end: MediaTime(value: 5, timescale: 1))
        let part = try await decode(bytes, threads: 1, range)
        #expect(part.samples == 176_400)
        #expect(try await decode(bytes, threads: 3, range, isAhead: isAhead) == part)
    }

    @Test func `several threads decode the packets of ALAC`() async throws {
        let wave = try await Studio.shared.source(
            "long-ahead.wav", ["-f", "lavfi", "-i", "sine=f=300:r=44100:d=20", "-ac", "2"])
        let path = try await Studio.shared.source("ahead.m4a", ["-i", wave, "-c:a", "alac"])
        let bytes = try fileBytes(path)
        let one = try await decode(bytes, threads: 1)
        #expect(one.samples == 882_000)
        #expect(try await decode(bytes, threads: 4, isAhead: true) == one)
    }

    @Test func `several threads decode hybrid WavPack and TTA`() async throws {
        let hybrid = Studio.shared.folder.file("ahead-hybrid.wv")
        let music = try await Studio.shared.music(seconds: 6)
        #expect(
            try await ChildProcess.run("wavpack", ["-q", "-b4", "--blocksize=1024", music, "-o", hybrid]).succeeded)
        // A frame of TTA has 1.04 seconds.
        let wave = ["-f", "lavfi", "-i", "sine=f=300:r=8000:d=150"]
        for path in [hybrid, try await Studio.shared.source("ahead.tta", wave)] {
            let bytes = try fileBytes(path)
            let one = try await decode(bytes, threads: 1)
            #expect(one.samples == (path == hybrid ? 264_600 : 1_200_000))
            #expect(try await decode(bytes, threads: 4, isAhead: true) == one)
        }
    }

    @Test(arguments: ["ahead.flac", "ahead.oga", "ahead.wv"], 0..<6)
    func `damage is found as by one thread`(_ name: String, _ seed: Int) async throws {
        let arguments = try #require(Self.kinds.first { $0.0 == name }).1
        var bytes = try fileBytes(try await Studio.shared.music(seconds: 6, as: name, arguments))
        var noise = Noise(state: UInt64(seed) &+ 7)
        // Behind the first packets, and at last the end.
        for _ in 0..<(seed % 4 + 1) {
            let start = Int.random(in: bytes.count / 3..<bytes.count - 4000, using: &noise)
            switch seed % 3 {
            case 0: bytes[start] ^= 0x10
            case 1: for index in start..<start + 3000 { bytes[index] = UInt8.random(in: 0...255, using: &noise) }
            default: bytes.removeSubrange(start..<start + 2000)
            }
        }
        if seed % 5 == 0 { bytes.removeLast(3000) }
        // A failure is that of the first damage.
        for damage in seed < 3 ? [DamagePolicy.accept, .fail] : [.accept] {
            let one = try await decode(bytes, threads: 1, damage: damage)
            #expect(try await decode(bytes, threads: 4, damage: damage) == one)
            #expect(one.error != nil || one.damage != .none || !one.warnings.isEmpty)
        }
    }

    /// MP3 of 24 seconds: more packets than one thread decodes at first. The bit reservoir of the lowest rates reaches back furthest.
    private static let layerThree: [(String, [String])] = [
        ("ahead.mp3", ["-b:a", "128k"]), ("ahead-V2.mp3", ["-q:a", "2"]), ("ahead-V9.mp3", ["-q:a", "9"]),
        ("ahead-320.mp3", ["-b:a", "320k"]), ("ahead-32.mp3", ["-b:a", "32k"]),
        ("ahead-alone.mp3", ["-b:a", "128k", "-reservoir", "0"]), ("ahead-mono.mp3", ["-ac", "1", "-b:a", "64k"]),
        ("ahead-24k.mp3", ["-ar", "24000", "-ac", "1", "-b:a", "8k"]),
        ("ahead-8k.mp3", ["-ar", "8000", "-ac", "1", "-q:a", "9"]), ("ahead-mp3.mka", ["-c:a", "mp3", "-b:a", "96k"]),
        ("ahead-mp3.mp4", ["-c:a", "mp3", "-b:a", "96k"]), ("ahead-mp3.avi", ["-c:a", "mp3", "-b:a", "96k"]),
    ]

    private func longMusic(_ name: String, _ arguments: [String]) async throws -> [UInt8] {
        let music = try await Studio.shared.music(seconds: 6)
        return try fileBytes(try await Studio.shared.source(name, ["-stream_loop", "3", "-i", music] + arguments))
    }

    @Test(arguments: layerThree)
    func `several threads decode MP3 as one does`(_ name: String, _ arguments: [String]) async throws {
        let bytes = try await longMusic(name, arguments)
        let one = try await decode(bytes, threads: 1)
        let rate = arguments.firstIndex(of: "-ar").map { Int(arguments[$0 + 1])! } ?? 44_100
        #expect(one.samples >= rate * 24 && one.error == nil)
        let threads = name == "ahead.mp3" ? [2, 5] : [5]
        for count in threads { #expect(try await decode(bytes, threads: count, isAhead: true) == one) }
        // A start as late as this is found by a seek.
        let range = TimeRange(start: MediaTime(value: 13, timescale: 1), end: MediaTime(value: 23, timescale: 1))
        let isAhead = name != "ahead-8k.mp3"
        #expect(try await decode(bytes, threads: 3, range, isAhead: isAhead) == decode(bytes, threads: 1, range))
    }

    @Test(arguments: ["ahead.mp3", "ahead-24k.mp3", "ahead-mp3.avi"], 0..<3)
    func `damage of MP3 is found as by one thread`(_ name: String, _ seed: Int) async throws {
        var bytes = try await longMusic(name, try #require(Self.layerThree.first { $0.0 == name }).1)
        var noise = Noise(state: UInt64(seed) &+ 7)
        for _ in 0...seed {
            let start = Int.random(in: bytes.count / 3..<bytes.count - 4000, using: &noise)
            switch seed % 3 {
            // Few of these bytes are in a header, so most of them change the sound alone.
            case 0: for index in start..<start + 3 { bytes[index] ^= 0x14 }
            case 1: for index in start..<start + 1500 { bytes[index] = UInt8.random(in: 0...255, using: &noise) }
            default: bytes.removeSubrange(start..<start + 700)
            }
        }
        let one = try await decode(bytes, threads: 1, damage: .accept)
        #expect(try await decode(bytes, threads: 4, damage: .accept, isAhead: true) == one)
        if seed == 0 { #expect(try await decode(bytes, threads: 4) == decode(bytes, threads: 1)) }
    }

    /// The frames of MP3 without a header.
    private func frames(_ name: String, _ arguments: [String]) async throws -> [[UInt8]] {
        let bytes = try await longMusic(name, arguments + ["-write_xing", "0", "-id3v2_version", "0"])
        var frames: [[UInt8]] = []
        var left = bytes[...]
        while let length = left.withUnsafeBufferPointer({ FrameHeader.length(AV_CODEC_ID_MP3, $0) }),
            length <= left.count
        {
            frames.append(Array(left.prefix(length)))
            left = left.dropFirst(length)
        }
        return frames
    }

    @Test func `frames of another layer have no main data`() async throws {
        // At this rate, all frames of layer II have the same length.
        let frames = try await frames("ahead-48k.mp3", ["-ar", "48000", "-q:a", "6"])
        let second = try await longMusic("ahead.mp2", ["-ar", "48000", "-b:a", "128k"])
        let length = try #require(second.withUnsafeBufferPointer { FrameHeader.length(AV_CODEC_ID_MP2, $0) })
        for distance in [13, 237] {
            let bytes = frames.enumerated().flatMap { number, frame in
                frame + (number % distance == 12 ? Array(second[100 * length..<108 * length]) : [])
            }
            let one = try await decode(bytes, threads: 1, damage: .accept)
            #expect(try await decode(bytes, threads: 4, damage: .accept, isAhead: distance == 237) == one)
        }
    }

    @Test func `a part of MP3 in mono between two in stereo is decoded as by one thread`() async throws {
        let stereo = try await frames("ahead-stereo.mp3", ["-b:a", "128k"])
        let mono = try await frames("ahead-mono-plain.mp3", ["-ac", "1", "-b:a", "64k"])
        let bytes = [stereo[100..<160], mono[100..<500], stereo[300..<360]].joined().flatMap(\.self)
        let one = try await decode(bytes, threads: 1, damage: .accept)
        #expect(try await decode(bytes, threads: 4, damage: .accept, isAhead: true) == one)
    }

    @Test(arguments: [5, 7]) func `zeros before a frame are not main data`(_ distance: Int) async throws {
        let frames = try await frames("ahead-32-plain.mp3", ["-b:a", "32k"])
        let bytes = frames.enumerated().flatMap { number, frame in
            (number % distance == 0 && number > 200 ? [UInt8](repeating: 0, count: 700) : []) + frame
        }
        #expect(
            try await decode(bytes, threads: 4, damage: .accept) == decode(bytes, threads: 1, damage: .accept))
    }

    /// A frame without its main data may use scale factors of one that is long past.
    @Test(arguments: 0..<4) func `frames in another order are decoded as by one thread`(_ seed: Int) async throws {
        var noise = Noise(state: UInt64(seed) &+ 3)
        let bytes = try await frames("ahead-V6.mp3", ["-q:a", "6"]).shuffled(using: &noise).flatMap(\.self)
        #expect(
            try await decode(bytes, threads: 4, damage: .accept) == decode(bytes, threads: 1, damage: .accept))
    }

    @Test func `a change of the shape in the stream is found as by one thread`() async throws {
        let first = try fileBytes(try await Studio.shared.music(seconds: 6, as: "ahead.flac", ["-frame_size", "512"]))
        let other = try fileBytes(
            try await Studio.shared.music(
                seconds: 6, as: "ahead-48.flac", ["-frame_size", "512", "-ac", "1", "-ar", "48000"]))
        let bytes = first + other.dropFirst(8192)
        let one = try await decode(bytes, threads: 1, damage: .accept)
        #expect(try await decode(bytes, threads: 4, damage: .accept) == one)
    }

    @Test(arguments: ["ahead.flac", "ahead-V6.mp3"])
    func `threads come and go while a source is decoded, and are given back`(_ name: String) async throws {
        let isMP3 = name.hasSuffix("mp3")
        let bytes =
            isMP3
            ? try await frames(name, ["-q:a", "6"]).flatMap(\.self)
            : try fileBytes(try await Studio.shared.music(seconds: 6, as: name, ["-frame_size", "512"]))
        let one = try await decode(bytes, threads: 1, damage: .accept)
        // An encoder has one of them from the start.
        let threads = ThreadBudget(1, isFixed: false)
        threads.take()
        let several = try await decode(bytes, threads, damage: .accept, isAhead: true) { number in
            let count = [3, 1, 5, 2][number / 50 % 4]
            threads.count = count
            // With one thread or two, the others stop: one is the encoder's, and one is left.
            let end = ContinuousClock.now + .seconds(30)
            while number % 50 == 40, count < 3, threads.working > 1, ContinuousClock.now < end { usleep(1000) }
            if number % 50 == 40, count < 3 { #expect(threads.working == 1) }
        }
        #expect(several == one)
        // A thread may still decode the last run.
        try await eventually("all threads but the encoder's are given back") { threads.working == 1 }
        threads.count = 1
        #expect(!threads.acquire())
    }

    @Test func `a thread that encoders need decodes no other run`() {
        let threads = ThreadBudget(2, isFixed: false)
        var shared = SharedRuns()
        shared.runs = [DecodeRun(lead: [], packets: []), DecodeRun(lead: [], packets: [])]
        shared.permitted = 1
        threads.take()
        #expect(shared.takeRun(threads) != nil && shared.permitted == 1)
        // An encoder goes on.
        threads.take()
        #expect(shared.takeRun(threads) == nil && shared.permitted == 0 && shared.runs.count == 1)
    }

    @Test func `a thread is spare beside the reader and an encoder`() {
        let threads = ThreadBudget(2, isFixed: true)
        #expect(threads.hasSpare && !ThreadBudget.one.hasSpare)
        threads.beginStream()
        #expect(!threads.hasSpare)
        threads.count = 3
        #expect(threads.hasSpare)
        threads.take()
        #expect(threads.acquire(leaving: 1) && !threads.acquire(leaving: 1) && threads.acquire() && !threads.acquire())
    }

    private struct Decoded: Hashable {
        var samples = 0
        /// Of the bytes of all samples.
        var sum = 0
        var lost: [Int] = []
        var damage = Damage.none
        var warnings: [String] = []
        var error: String?
    }

    private func decode(
        _ bytes: [UInt8], threads: Int, _ range: TimeRange = .whole, damage: DamagePolicy = .fail, isAhead: Bool = false
    ) async throws -> Decoded {
        try await decode(bytes, ThreadBudget(threads, isFixed: true), range, damage: damage, isAhead: isAhead)
    }

    /// Decodes a source, and calls `next` with the number of each frame.
    private func decode(
        _ bytes: [UInt8], _ threads: ThreadBudget, _ range: TimeRange = .whole, damage: DamagePolicy = .fail,
        isAhead: Bool = false, next: @escaping @Sendable (Int) -> Void = { _ in }
    ) async throws -> Decoded {
        let (result, ahead) = try await onThread {
            let settings = SourceSettings(range: range, damage: damage)
            var (result, ahead, number, sum) = (Decoded(), 0, 0, Hasher())
            do {
                var reader = try AssetReader.open(
                    MemoryFile(bytes), settings, threads: threads, stop: CancellationFlag())
                let frame = try Frame()
                while try reader.next(into: frame) {
                    next(number)
                    number += 1
                    if frame.isLost { result.lost.append(result.samples) }
                    result.samples += frame.samples
                    let planes = try frame.shape.isPlanar ? frame.channels : 1
                    for plane in 0..<planes {
                        let count = frame.bytes / planes
                        sum.combine(bytes: UnsafeRawBufferPointer(start: frame.planes[plane], count: count))
                    }
                }
                ahead = reader.packetsAhead
                result.damage = reader.damage
                result.warnings = reader.warnings.map { "\($0.code): \($0.message)" }
            } catch let error as MediaError { result.error = "\(error.reason) \(error.sentence)" }
            result.sum = sum.finalize()
            return (result, ahead)
        }
        #expect(!isAhead || ahead > 0)
        return result
    }
}
