import CLibav

/// What a frame of MPEG audio layer III says of its main data (ISO 11172-3 section 2.4.1, ISO 13818-3 section 2.4.1).
package struct LayerThreeFrame {
    /// The bytes of the header and the side information.
    package let headBytes: Int
    /// The bytes behind them, which hold main data of this frame and of later ones.
    package let slotBytes: Int
    /// How many bytes before this frame's slot its main data begins (`main_data_begin`), not counting headers.
    package let begin: Int
    /// The bytes of its main data.
    package let mainBytes: Int
    /// The type of the last granule's block in each channel.
    package let lastBlocks: [Int]
    /// The four bytes of its header.
    package let header: [UInt8]
    /// Whether it is MPEG-1, whose frames have two granules, and not MPEG-2 or 2.5.
    package let isFirstVersion: Bool
    /// Whether it has a checksum, which covers its side information.
    package let hasChecksum: Bool

    /// Reads a frame; `nil` if the bytes are not a single one.
    package init?(_ bytes: UnsafeBufferPointer<UInt8>) {
        guard FrameHeader.length(AV_CODEC_ID_MP3, bytes) == bytes.count, bytes[1] & 6 == 2 else { return nil }
        isFirstVersion = bytes[1] & 0x18 == 0x18
        hasChecksum = bytes[1] & 1 == 0
        header = Array(bytes[..<4])
        let channels = bytes[3] >> 6 == 3 ? 1 : 2
        headBytes = 4 + (hasChecksum ? 2 : 0) + (isFirstVersion ? (channels == 1 ? 17 : 32) : (channels == 1 ? 9 : 17))
        guard bytes.count >= headBytes else { return nil }
        slotBytes = bytes.count - headBytes
        var side = SideBits(bytes: bytes, position: hasChecksum ? 48 : 32)
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

    /// How many bytes before its slot the main data of such a frame can begin.
    package var maxBegin: Int { isFirstVersion ? 511 : 255 }

    /// The bytes that the next frame's main data may begin before its slot.
    package var reservoir: Int { begin + slotBytes - mainBytes }
}
