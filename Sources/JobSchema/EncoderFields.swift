import MediaTypes

// The fields for the encoder's settings.
extension FieldReader {
    func encoderSettings() throws(Failure) -> EncoderSettings {
        var encoder = EncoderSettings()
        // The codec's own range is checked with the other settings of the format.
        encoder.compressionLevel = try whole("compression_level", 0...100)
        return encoder
    }
}
