import MediaTypes

// The fields for the encoder's settings.
extension FieldReader {
    func encoderSettings() throws(Failure) -> EncoderSettings {
        var encoder = EncoderSettings()
        // The codec's own range is checked with the other settings of the format.
        encoder.compressionLevel = try whole("compression_level", 0...100)
        encoder.bitRateMode = try word("bit_rate_mode")
        encoder.application = try word("application")
        encoder.frameDuration = try frameDuration()
        return encoder
    }

    private func frameDuration() throws(Failure) -> Double? {
        guard let text = fields["frame_duration"] else { return nil }
        guard let milliseconds = Double(text), (1...1000).contains(milliseconds) else {
            throw wrong("frame_duration", "a number of milliseconds, such as 20 or 2.5")
        }
        return milliseconds
    }

    /// The word of a field that has a fixed list of them; `nil` if it is not set.
    func word<Value: RawRepresentable<String> & CaseIterable>(_ name: String) throws(Failure) -> Value? {
        guard let text = fields[name] else { return nil }
        guard let value = Value(rawValue: text) else { throw wrong(name, oneOf: Value.allCases.map(\.rawValue)) }
        return value
    }
}
