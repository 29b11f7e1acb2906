import MediaTypes

// The fields for the encoder's settings.
extension FieldReader {
    func encoderSettings() throws(Failure) -> EncoderSettings {
        var encoder = EncoderSettings()
        // The codec's own range is checked with the other settings of the format.
        encoder.compressionLevel = try whole("compression_level", 0...100)
        encoder.bitRateMode = try word("bit_rate_mode")
        return encoder
    }

    /// The word of a field that has a fixed list of them; `nil` if it is not set.
    private func word<Value: RawRepresentable<String> & CaseIterable>(_ name: String) throws(Failure) -> Value? {
        guard let text = fields[name] else { return nil }
        guard let value = Value(rawValue: text) else { throw wrong(name, oneOf: Value.allCases.map(\.rawValue)) }
        return value
    }
}
