import TestSupport
import Testing

@testable import Demuxing

/// The search for frames of other codecs in the samples of WAV files.
@Suite(.ownThread) struct FrameSearchTests {
    private static let length = 131_072

    private static func finds(_ bytes: [UInt8]) -> Bool {
        bytes.withUnsafeBufferPointer { FrameSearch(bytes: $0).isSuccessful }
    }

    @Test(arguments: [
        0x7FFE_8001_FC00, 0xFE7F_0180_00FC, 0x1FFF_E800_07F0, 0xFF1F_00E8_F007, 0x6458_2025_0000, 0xF872_6FBA_0000,
    ])
    func `each sync word is found, up to the last place that is searched`(word: Int) {
        let mark = (0..<6).reversed().map { UInt8(truncatingIfNeeded: word >> (8 * $0)) }
        for place in [0, 2, 4, 1000, Self.length - 6] {
            var bytes = [UInt8](repeating: 0, count: Self.length)
            // Bytes that occur in sync words, before the word itself.
            for near in stride(from: 0, to: place - 8, by: 97) { bytes[near] = [0x80, 0xE8, 0xFF, 0x7F][near % 4] }
            let isFoundBefore = Self.finds(bytes)
            bytes.replaceSubrange(place..<place + 6, with: mark)
            let isFound = Self.finds(bytes)
            #expect(!isFoundBefore && isFound, "at \(place)")
        }
        let isPartFound = Self.finds(Array(mark.dropLast()))
        #expect(!isPartFound)
    }

    /// A frame of each framing: MPEG-1 layer III of 128 kbit/s at 44.1 kHz, ADTS, LOAS, AC-3 of 32 kbit/s at 48 kHz.
    private static let frames: [[UInt8]] = [
        frame([0xFF, 0xFB, 0x90, 0x00], 417), frame([0xFF, 0xF1, 0x50, 0x80, 0x0C, 0x9F, 0xFC], 100),
        frame([0x56, 0xE0, 0x61], 100), frame([0x0B, 0x77, 0x00, 0x00, 0x00, 0x40, 0x40, 0x00], 128),
        frame([0x77, 0x0B, 0x00, 0x00, 0x40, 0x00, 0x00, 0x40], 128),
    ]

    private static func frame(_ head: [UInt8], _ length: Int) -> [UInt8] {
        head + [UInt8](repeating: 0x11, count: length - head.count)
    }

    @Test(arguments: frames)
    func `some frames at the start are found, and elsewhere many`(frame: [UInt8]) {
        func finds(_ head: [UInt8], _ count: Int) -> Bool {
            Self.finds(head + (0..<count).flatMap { _ in frame })
        }
        #expect(finds([], 3) && !finds([], 2))
        #expect(finds([0, 0, 0], 3))
        #expect(finds([1, 2, 3], 101) && !finds([1, 2, 3], 100))
        // One byte too many between two frames.
        #expect(!finds(frame + frame + [0], 100))
    }

    @Test func `frames of AC-3 with a block before each are found`() {
        let block: [UInt8] = [0x01, 0x10] + [UInt8](repeating: 0, count: 14)
        #expect(Self.finds((0..<3).flatMap { _ in block + Self.frames[3] }))
    }

    /// Noise of several levels: quiet samples have the bytes of headers and sync words, but not where these are.
    @Test(arguments: [1, 4, 8, 9, 10, 12, 16])
    func `samples are no frames`(bits: Int) {
        var random = Noise(state: 1)
        let range = -(1 << (bits - 1))..<(1 << (bits - 1))
        var found = 0
        for _ in 0..<4 {
            if Self.finds(random.samples(Self.length / 2, in: range)) { found += 1 }
        }
        // What is found by chance only takes time.
        #expect(found <= 1)
    }

    @Test func `constant bytes are no frames`() {
        let found = [0, 1, 0x0B, 0x77, 0x56, 0x80, 0xFF].filter {
            Self.finds([UInt8](repeating: $0, count: Self.length))
        }
        #expect(found.isEmpty)
        #expect(!Self.finds([]))
        #expect(Self.finds(Array("ID3".utf8)))
    }
}
