/// Makes HE-AAC from AAC-LC: each frame gets the spectral band replication that the standard's simplest encoder would write.
package enum BandReplication {
    /// The raw data blocks of frames with ADTS headers (ISO 14496-3, 1.A.3.2).
    package static func blocks(_ stream: [UInt8]) -> [[UInt8]] {
        var (blocks, place): ([[UInt8]], Int) = ([], 0)
        while place + 7 <= stream.count {
            let length = Int(stream[place + 3] & 3) << 11 | Int(stream[place + 4]) << 3 | Int(stream[place + 5]) >> 5
            guard length > 7 else { break }
            blocks.append(Array(stream[(place + (stream[place + 1] & 1 == 1 ? 7 : 9))..<(place + length)]))
            place += length
        }
        return blocks
    }

    /// Adds a fill element with band replication to a raw data block of one channel (ISO 14496-3, 4.4.2.7 and 4.4.2.8).
    package static func added(to block: [UInt8]) -> [UInt8] {
        var bits: [Bool] = []
        for byte in block { put(Int(byte), 8, &bits) }
        while bits.last == false { bits.removeLast() }
        // The end element, three ones, follows behind the fill element.
        bits.removeLast(3)
        var body: [Bool] = []
        put(13, 4, &body)
        body += payload
        while body.count % 8 != 0 { body.append(false) }
        put(6, 3, &bits)
        let count = body.count / 8
        put(min(count, 15), 4, &bits)
        if count >= 15 { put(count - 14, 8, &bits) }
        bits += body
        put(7, 3, &bits)
        return bytes(bits)
    }

    /// One envelope of equal energies over all bands, for a decoded rate of 44.1 kHz.
    private static let payload: [Bool] = {
        var bits: [Bool] = []
        // A header: amplitude resolution, start 5, stop 9, no crossover, and the standard's other values.
        let header = [(1, 1), (1, 1), (5, 4), (9, 4), (0, 3), (0, 2), (0, 1), (0, 1)]
        for (value, count) in header { put(value, count, &bits) }
        // No extra data; a grid of one envelope with high resolution; differences in frequency.
        for (value, count) in [(0, 1), (0, 2), (0, 2), (1, 1), (0, 1), (0, 1)] { put(value, count, &bits) }
        put(0, 2 * noiseBands, &bits)
        put(1, 7, &bits)
        put(0, 2 * (bands - 1), &bits)
        put(15, 5, &bits)
        put(0, noiseBands - 1, &bits)
        // No harmonics, no extension.
        put(0, 2, &bits)
        return bits
    }()

    /// The bands from start 5 to stop 9 at 44.1 kHz (ISO 14496-3, 4.6.18.3.2).
    private static let (bands, noiseBands) = (16, 3)

    private static func put(_ value: Int, _ count: Int, _ bits: inout [Bool]) {
        for place in (0..<count).reversed() { bits.append(value >> place & 1 == 1) }
    }

    /// The bytes of bits, with zeros behind them.
    private static func bytes(_ bits: [Bool]) -> [UInt8] {
        stride(from: 0, to: bits.count, by: 8).map { start in
            (start..<start + 8).reduce(0) { byte, place in byte << 1 | (place < bits.count && bits[place] ? 1 : 0) }
        }
    }

    /// How a configuration signals band replication (ISO 14496-3, 1.6.5).
    package enum Signaling: Sendable { case implicit, compatible, explicit }

    /// The AudioSpecificConfig of one channel with a core of 22.05 kHz.
    package static func configuration(_ signaling: Signaling) -> [UInt8] {
        var bits: [Bool] = []
        let fields: [(Int, Int)] =
            switch signaling {
            case .implicit: [(2, 5), (7, 4), (1, 4), (0, 3)]
            case .compatible: [(2, 5), (7, 4), (1, 4), (0, 3), (0x2B7, 11), (5, 5), (1, 1), (4, 4)]
            case .explicit: [(5, 5), (7, 4), (1, 4), (4, 4), (2, 5), (0, 3)]
            }
        for (value, count) in fields { put(value, count, &bits) }
        return bytes(bits)
    }
}
