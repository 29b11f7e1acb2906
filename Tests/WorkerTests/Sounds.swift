import Foundation

/// Audio made by the test itself.
enum Sounds {
    /// A WAV file of 16-bit mono at 44,100 Hz: sample n has value n mod 65,536 − 32,768.
    static func ramp(samples: Int) -> [UInt8] {
        header(bytes: samples * 2) + (0..<samples).flatMap { littleEndian(UInt16(truncatingIfNeeded: $0 &- 32_768)) }
    }

    private static func header(bytes: Int) -> [UInt8] {
        Array("RIFF".utf8) + littleEndian(UInt32(36 + bytes)) + Array("WAVEfmt ".utf8) + littleEndian(UInt32(16))
            + littleEndian(UInt16(1)) + littleEndian(UInt16(1)) + littleEndian(UInt32(44_100))
            + littleEndian(UInt32(88_200)) + littleEndian(UInt16(2)) + littleEndian(UInt16(16)) + Array("data".utf8)
            + littleEndian(UInt32(bytes))
    }

    private static func littleEndian(_ value: some FixedWidthInteger) -> [UInt8] {
        withUnsafeBytes(of: value.littleEndian) { Array($0) }
    }
}
