import Bytes
import CLibav
import Libav
import MediaTypes

/// Joins frames of FLAC (RFC 9639). They depend on nothing but their number, so the file is the same as that of one encoder.
final class FlacJoint: PacketJoint {
    private let hash: MD5Hash
    private let packing: SamplePacking
    private var room: [UInt8] = []
    private var samples: Int64 = 0
    private var sizes: ClosedRange<Int>?

    init(_ settings: EncodingSettings) throws(MediaError) {
        hash = try MD5Hash()
        packing = SamplePacking(channels: settings.shape.channels, isPlanar: false, bits: settings.sampleFormat!.bits)
    }

    func add(_ frame: borrowing Frame) {
        samples += Int64(frame.samples)
        packing.bytes(of: frame, room: &room) { hash.update($0) }
    }

    func join(
        _ running: PacketRun, _ next: PacketRun, at planned: Int, where isAccepted: Acceptance
    ) -> Joined? {
        Joined(running, next, at: planned)
    }

    static let sumsSamples = true

    static let renumber: (@Sendable (EncodedPacket, Int) throws(MediaError) -> Void)? = {
        (packet: EncodedPacket, number: Int) throws(MediaError) in
        // The last packet only carries the final header.
        if packet.size > 0 { try FlacFrameHeader.renumber(packet, number) }
    }

    func finish(_ packet: borrowing Packet) throws(MediaError) {
        let size = Int(packet.pointer.pointee.size)
        guard size == 0 else {
            sizes = min(sizes?.lowerBound ?? size, size)...max(sizes?.upperBound ?? size, size)
            return
        }
        // STREAMINFO: sizes of frames at 4 and 7, 36 bits of samples at 13, MD5 at 18 (RFC 9639 section 8.2).
        var count = 0
        guard let info = av_packet_get_side_data(packet.pointer, AV_PKT_DATA_NEW_EXTRADATA, &count), count >= 34,
            let sizes
        else { return }
        func store(_ value: Int, _ bytes: Int, at offset: Int) {
            for index in 0..<bytes {
                info[offset + index] = UInt8(truncatingIfNeeded: value >> (8 * (bytes - 1 - index)))
            }
        }
        store(sizes.lowerBound, 3, at: 4)
        store(sizes.upperBound, 3, at: 7)
        info[13] = info[13] & 0xf0 | UInt8(truncatingIfNeeded: samples >> 32) & 0x0f
        store(Int(samples & 0xffff_ffff), 4, at: 14)
        for (index, byte) in hash.finish().enumerated() { info[18 + index] = byte }
    }
}

/// The header of a FLAC frame (RFC 9639 section 9.1).
enum FlacFrameHeader {
    /// Replaces a frame's number, which its encoder counted from zero, and both of its checksums.
    static func renumber(_ packet: EncodedPacket, _ number: Int) throws(MediaError) {
        let bytes = packet.packet.bytes
        let before = max((~bytes[4]).leadingZeroBitCount, 1)
        // The codes for a block size and a sample rate that follow the number.
        let blockBytes = bytes[2] >> 4 == 6 ? 1 : bytes[2] >> 4 == 7 ? 2 : 0
        let rateBytes = bytes[2] & 15 == 12 ? 1 : (13...14).contains(bytes[2] & 15) ? 2 : 0
        let rest = 4 + before
        let end = rest + blockBytes + rateBytes
        let old = Array(bytes[...end])
        var header = Array(bytes[..<4]) + coded(number) + Array(bytes[rest..<end])
        header.append(checksum8(header))
        let body = bytes.count - 2 - old.count
        let sum = UInt16(bytes[bytes.count - 2]) << 8 | UInt16(bytes[bytes.count - 1])
        // The checksum is linear: only the difference of the headers is carried through the rest of the frame.
        let changed = sum ^ shifted(checksum16(old) ^ checksum16(header), by: body)
        let growth = header.count - old.count
        if growth > 0 { try packet.grow(by: growth) }
        let target = try packet.writable
        if growth != 0 {
            let start = target.baseAddress!
            (start + header.count).update(from: start + old.count, count: body + 2)
        }
        for (index, byte) in header.enumerated() { target[index] = byte }
        let size = header.count + body + 2
        target[size - 2] = UInt8(changed >> 8)
        target[size - 1] = UInt8(truncatingIfNeeded: changed)
        if growth < 0 { packet.packet.shorten(to: size) }
    }

    /// A number in the extended UTF-8 of FLAC.
    static func coded(_ number: Int) -> [UInt8] {
        guard number >= 0x80 else { return [UInt8(number)] }
        var count = 2
        while number >> (5 * count + 1) > 0 { count += 1 }
        let lead = UInt8(truncatingIfNeeded: 0xff00 >> count)
        return (0..<count).map { index in
            let bits = UInt8(truncatingIfNeeded: number >> (6 * (count - 1 - index)))
            return index == 0 ? lead | bits : 0x80 | bits & 0x3f
        }
    }

    /// The CRC-8 of the header.
    private static func checksum8(_ bytes: [UInt8]) -> UInt8 {
        UInt8(truncatingIfNeeded: av_crc(av_crc_get_table(AV_CRC_8_ATM), 0, bytes, bytes.count))
    }

    /// The CRC-16 of a frame's first bytes. libav computes it with its bytes swapped.
    private static func checksum16(_ bytes: [UInt8]) -> UInt16 {
        UInt16(truncatingIfNeeded: av_crc(av_crc_get_table(AV_CRC_16_ANSI), 0, bytes, bytes.count)).byteSwapped
    }

    /// A CRC-16 after that many bytes of zero: the product with x^(8 · count) over GF(2).
    private static func shifted(_ sum: UInt16, by count: Int) -> UInt16 {
        var (result, power, left) = (sum, UInt16(0x0100), count)
        while left > 0 {
            if left & 1 == 1 { result = product(result, power) }
            power = product(power, power)
            left >>= 1
        }
        return result
    }

    private static func product(_ left: UInt16, _ right: UInt16) -> UInt16 {
        (0..<16).reversed().reduce(0) { sum, bit in timesX(sum) ^ (left >> UInt16(bit) & 1 == 1 ? right : 0) }
    }

    private static func timesX(_ sum: UInt16) -> UInt16 { sum << 1 ^ (sum & 0x8000 == 0 ? 0 : 0x8005) }
}
