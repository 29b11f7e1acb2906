import CLibav
import Demuxing

/// What a frame of MPEG audio layer III says of its main data (ISO 11172-3 section 2.4.1, ISO 13818-3 section 2.4.1).
struct LayerThreeFrame {
    /// The bytes of the header and the side information.
    let headBytes: Int
    /// The bytes behind them, which hold main data of this frame and of later ones.
    let slotBytes: Int
    /// How many bytes before this frame's slot its main data begins (`main_data_begin`), not counting headers.
    let begin: Int
    /// The bytes of its main data.
    let mainBytes: Int
    /// The type of the last granule's block in each channel.
    let lastBlocks: [Int]
    private let header: [UInt8]

    /// Reads a frame; `nil` if it is none, or one with a checksum, which covers its side information.
    init?(_ bytes: UnsafeBufferPointer<UInt8>) {
        guard FrameHeader.length(AV_CODEC_ID_MP3, bytes) == bytes.count, bytes[1] & 7 == 3 else { return nil }
        let isFirstVersion = bytes[1] & 0x18 == 0x18
        header = Array(bytes[..<4])
        let channels = bytes[3] >> 6 == 3 ? 1 : 2
        headBytes = 4 + (isFirstVersion ? (channels == 1 ? 17 : 32) : (channels == 1 ? 9 : 17))
        guard bytes.count >= headBytes else { return nil }
        slotBytes = bytes.count - headBytes
        var side = SideBits(bytes: bytes, position: 32)
        begin = side.take(isFirstVersion ? 9 : 8)
        // Private bits, and in version 1 four bits of each channel for shared scale factors.
        side.position += isFirstVersion ? (channels == 1 ? 5 + 4 : 3 + 8) : channels
        var bits = 0
        var blocks: [Int] = []
        for _ in 0..<(isFirstVersion ? 2 : 1) {
            blocks = []
            for _ in 0..<channels {
                let end = side.position + (isFirstVersion ? 59 : 63)
                bits += side.take(12)
                // Big values, gain, and the compression of scale factors.
                side.position += 9 + 8 + (isFirstVersion ? 4 : 9)
                blocks.append(side.take(1) == 1 ? side.take(2) : 0)
                side.position = end
            }
        }
        lastBlocks = blocks
        mainBytes = (bits + 7) / 8
    }

    /// The bytes that the next frame's main data may begin before its slot.
    var reservoir: Int { begin + slotBytes - mainBytes }

    /// The lowest bit rate at which the frame is larger by at least that many bytes: its header's third byte, and the growth.
    func raised(by bytes: Int) -> (byte: UInt8, growth: Int)? {
        for rate in (header[2] >> 4) + 1..<15 {
            var raised = header
            raised[2] = rate << 4 | header[2] & 15
            let length = raised.withUnsafeBufferPointer { FrameHeader.length(AV_CODEC_ID_MP3, $0) }
            if let growth = length.map({ $0 - headBytes - slotBytes }), growth >= bytes { return (raised[2], growth) }
        }
        return nil
    }
}

/// Reads bits, highest first.
struct SideBits {
    let bytes: UnsafeBufferPointer<UInt8>
    /// The number of the next bit.
    var position: Int

    mutating func take(_ count: Int) -> Int {
        defer { position += count }
        return (position..<position + count).reduce(0) { $0 << 1 | Int(bytes[$1 >> 3] >> (7 - UInt8($1 & 7)) & 1) }
    }
}
