/// The checksums of a frame of FLAC (RFC 9639, 9.1.8 and 9.3).
package enum FlacChecksum {
    package static func ofHeader(_ bytes: ArraySlice<UInt8>) -> UInt8 { UInt8(sum(bytes, 0x07, bits: 8)) }

    package static func ofFrame(_ bytes: ArraySlice<UInt8>) -> UInt16 { sum(bytes, 0x8005, bits: 16) }

    private static func sum(_ bytes: ArraySlice<UInt8>, _ polynomial: UInt16, bits: Int) -> UInt16 {
        let top = UInt16(1) << (bits - 1)
        var sum: UInt16 = 0
        for byte in bytes {
            sum ^= UInt16(byte) << (bits - 8)
            for _ in 0..<8 { sum = sum & top == 0 ? sum << 1 : sum << 1 ^ polynomial }
            if bits == 8 { sum &= 0xFF }
        }
        return sum
    }
}
