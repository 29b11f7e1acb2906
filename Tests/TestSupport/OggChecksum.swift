/// The checksum of a page of Ogg (RFC 3533, section 6).
package enum OggChecksum {
    package static func of(_ bytes: [UInt8]) -> UInt32 {
        bytes.reduce(0) { sum, byte in sum << 8 ^ table[Int(sum >> 24 ^ UInt32(byte))] }
    }

    private static let table: [UInt32] = (0..<256).map { byte in
        (0..<8).reduce(UInt32(byte) << 24) { sum, _ in sum << 1 ^ (sum >> 31 == 1 ? 0x04C1_1DB7 : 0) }
    }
}
