package import Bytes

/// Assembles the PES packets of one elementary stream from MPEG-TS packets (ISO 13818-1, 2.4.3.2).
package struct TransportPackets: ~Copyable {
    private var window: SourceWindow
    private var place: Int64
    private var identifier: UInt16?
    private var counter: UInt8?

    private static let size = 188
    /// The first byte of a packet.
    static let mark: Int64 = 0x47
    /// Packets of 188 bytes, optionally after a 4-byte timestamp or before 16 bytes of error correction: their size, and the
    /// offset of their first byte.
    package static let forms: [(size: Int64, sync: Int64)] = [(188, 0), (192, 4), (204, 0)]
    private static let largest = 1 << 16

    /// `start` is the offset of a packet's sync byte.
    package init(_ source: any ByteSource, from start: Int64) {
        window = SourceWindow(source)
        place = start
    }

    /// The next PES packet with its offset; `nil` if the stream is broken or ends.
    package mutating func unit() throws -> (offset: Int64, bytes: [UInt8])? {
        let offset = place
        var unit: [UInt8] = []
        while unit.count < Self.largest {
            let bytes = try window.bytes(at: place, atLeast: Self.size)
            guard bytes.count >= Self.size, bytes[0] == 0x47, bytes[1] & 0x80 == 0 else { return nil }
            let number = UInt16(bytes[1] & 0x1F) << 8 | UInt16(bytes[2])
            if identifier ?? number == number, bytes[3] & 0x10 != 0 {
                let isFirst = bytes[1] & 0x40 != 0
                if isFirst, !unit.isEmpty { return (offset, unit) }
                let body = bytes[3] & 0x20 != 0 ? 5 + Int(bytes[4]) : 4
                guard isFirst == unit.isEmpty, body < Self.size, bytes[3] & 0xC0 == 0,
                    counter.map({ ($0 + 1) & 15 == bytes[3] & 15 }) ?? true
                else { return nil }
                (identifier, counter) = (number, bytes[3] & 15)
                unit += bytes[body..<Self.size]
            }
            place += Int64(Self.size)
        }
        return nil
    }
}
