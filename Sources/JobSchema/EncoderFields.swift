import MediaTypes

// The fields for the encoder's settings.
extension FieldReader {
    func encoderSettings() -> EncoderSettings {
        var encoder = EncoderSettings()
        // The codec's own range is checked with the other settings of the format.
        encoder.compressionLevel = whole("compression_level")
        encoder.bitRateMode = word("bit_rate_mode")
        encoder.application = word("application")
        encoder.frameDuration = number("frame_duration")
        return encoder
    }
}
