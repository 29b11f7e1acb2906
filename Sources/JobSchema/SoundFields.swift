import MediaTypes

// The fields for processing samples.
extension FieldReader {
    func sound() -> SoundSettings {
        var sound = SoundSettings()
        sound.channelMap = fields["channel_map"].flatMap { ChannelReference.list(parsing: $0) }
        sound.mix = fields["mix"].flatMap { MixMatrix(parsing: $0) }
        sound.resampler = word("resampler") ?? .swr
        sound.loudness = number("loudness")
        sound.gain = number("gain")
        if sound.gain != nil, sound.loudness != nil {
            refuse("gain", "`gain` and `loudness` are mutually exclusive: give one")
        }
        sound.isUnlimited = fields["true_peak"] == "off"
        sound.truePeak = number("true_peak")
        sound.fadeIn = time("fade_in")
        sound.fadeOut = time("fade_out")
        sound.trimSilence = fields["trim_silence"].flatMap { SilenceTrim(parsing: $0) }
        sound.replayGain = word("replay_gain")
        sound.highPass = number("high_pass")
        sound.lowPass = number("low_pass")
        sound.tempo = fields["tempo"].flatMap { Tempo(parsing: $0) }
        sound.dither = word("dither")
        return sound
    }
}
