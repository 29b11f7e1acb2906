/// The storage format of a sample.
package enum SampleFormat: String, CaseIterable, Codable, Sendable {
    case u8, s8, s16, s24, s32, f32, f64
    case s16le, s24le, s32le, f32le, f64le
    case s16be, s24be, s32be, f32be, f64be

    /// The byte order of a sample, if the name specifies it.
    package enum ByteOrder: Sendable {
        case little, big
    }

    /// The byte order in the name; `nil` if the name does not specify it.
    package var byteOrder: ByteOrder? {
        if rawValue.hasSuffix("le") { return .little }
        if rawValue.hasSuffix("be") { return .big }
        return nil
    }

    /// The format without a fixed byte order.
    package var base: SampleFormat {
        byteOrder == nil ? self : SampleFormat(rawValue: String(rawValue.dropLast(2)))!
    }

    /// Bits of a stored sample.
    package var bits: Int {
        switch base {
        case .u8, .s8: 8
        case .s16: 16
        case .s24: 24
        case .s32, .f32: 32
        default: 64
        }
    }

    /// Whether samples are floating point, with 1.0 as full scale.
    package var isFloat: Bool { rawValue.hasPrefix("f") }
}
