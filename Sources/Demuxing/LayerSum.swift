import CLibav

/// The CRC that MPEG audio frames may have after their header (ISO 11172-3, 2.4.3.1).
enum LayerSum {
    /// Whether a complete frame has no CRC or a valid one.
    static func isRight(_ frame: UnsafeBufferPointer<UInt8>) -> Bool {
        guard frame.count > 6, frame[1] & 1 == 0 else { return frame.count > 4 }
        guard let bits = coveredBits(frame), 48 + bits <= frame.count * 8 else { return false }
        var sum: UInt16 = 0xFFFF
        for place in Array(16..<32) + Array(48..<48 + bits) {
            let isOdd = (sum & 0x8000 != 0) != bit(frame, place)
            sum = sum << 1 ^ (isOdd ? 0x8005 : 0)
        }
        return sum == UInt16(frame[4]) << 8 | UInt16(frame[5])
    }

    private static func bit(_ frame: UnsafeBufferPointer<UInt8>, _ place: Int) -> Bool {
        frame[place >> 3] & 0x80 >> UInt8(place & 7) != 0
    }

    /// Bits after the CRC that it covers, apart from those of the header; `nil` if the header is invalid.
    private static func coveredBits(_ frame: UnsafeBufferPointer<UInt8>) -> Int? {
        let isFirstVersion = frame[1] >> 3 & 3 == 3
        let mode = frame[3] >> 6
        let channels = mode == 3 ? 1 : 2
        // From this subband on, both channels share their bits.
        let bound = mode == 1 ? 4 * (Int(frame[3] >> 4 & 3) + 1) : 32
        switch frame[1] >> 1 & 3 {
        case 3: return 4 * (channels * bound + 32 - bound)
        case 2: return secondLayerBits(frame, isFirstVersion, channels, bound)
        case 1:
            let lengths = isFirstVersion ? (17, 32) : (9, 17)
            return 8 * (channels == 1 ? lengths.0 : lengths.1)
        default: return nil
        }
    }

    /// For layer II: the bit allocation, and two bits for each subband with samples.
    private static func secondLayerBits(
        _ frame: UnsafeBufferPointer<UInt8>, _ isFirstVersion: Bool, _ channels: Int, _ bound: Int
    ) -> Int? {
        guard let length = FrameHeader.length(AV_CODEC_ID_MP2, frame) else { return nil }
        let rate = [44_100, 48_000, 32_000][Int(frame[2] >> 2 & 3)]
        // Lengths are rounded down, and a padded frame is one byte longer.
        let bitRate = (length * rate + 72_000) / 144_000 / channels
        let widths = widths(isFirstVersion, rate, bitRate)
        var (place, chosen) = (48, 0)
        for (subband, width) in widths.enumerated() {
            let isShared = channels == 2 && subband >= bound
            for _ in 0..<(isShared ? 1 : channels) {
                guard place + width <= frame.count * 8 else { return nil }
                let isUsed = (place..<place + width).contains { bit(frame, $0) }
                chosen += isUsed ? (isShared ? 2 : 1) : 0
                place += width
            }
        }
        return place - 48 + 2 * chosen
    }

    /// Bits of each subband's allocation (ISO 11172-3, tables 3-B.2; ISO 13818-3, table B.1), by the bit rate of a channel in
    /// kbit/s.
    private static func widths(_ isFirstVersion: Bool, _ rate: Int, _ bitRate: Int) -> [Int] {
        func row(_ counts: (width: Int, count: Int)...) -> [Int] {
            counts.flatMap { [Int](repeating: $0.width, count: $0.count) }
        }
        guard isFirstVersion else { return row((4, 4), (3, 7), (2, 19)) }
        if rate == 48_000 && bitRate >= 56 || (56...80).contains(bitRate) { return row((4, 11), (3, 12), (2, 4)) }
        if rate != 48_000 && bitRate >= 96 { return row((4, 11), (3, 12), (2, 7)) }
        return rate != 32_000 && bitRate <= 48 ? row((4, 2), (3, 6)) : row((4, 2), (3, 10))
    }
}
