import MediaTypes

// The fields for processing samples.
extension FieldReader {
    func sound() throws(Failure) -> SoundSettings {
        var sound = SoundSettings()
        sound.channelMap = try parsed("channel_map", "channels separated by commas, such as R,L or 2,1") {
            ChannelReference.list(parsing: $0)
        }
        sound.mix = try parsed("mix", "one expression per output channel, such as FL=FL+0.707FC,FR=FR+0.707FC") {
            MixMatrix(parsing: $0)
        }
        sound.resampler = try parsed("resampler", "swr or soxr") { ResamplerEngine(rawValue: $0) } ?? .swr
        sound.loudness = try decibels("loudness", -70...0, "a target in LUFS from -70 to 0, such as -16")
        sound.gain = try decibels("gain", -120...60, "decibels from -120 to 60")
        if sound.gain != nil, sound.loudness != nil {
            throw Self.invalid("`gain` and `loudness` are mutually exclusive: give one")
        }
        if fields["true_peak"] == "off" {
            sound.isUnlimited = true
        } else {
            sound.truePeak = try decibels("true_peak", -20...0, "a ceiling in dBTP from -20 to 0, or off")
        }
        sound.fadeIn = try fade("fade_in")
        sound.fadeOut = try fade("fade_out")
        sound.trimSilence = try parsed(
            "trim_silence", "a threshold in dB from -120 to 0, and a minimum length in seconds, such as -60,0.5"
        ) { SilenceTrim(parsing: $0) }
        sound.replayGain = try parsed("replay_gain", "track") { ReplayGain(rawValue: $0) }
        sound.highPass = try frequency("high_pass", "80")
        sound.lowPass = try frequency("low_pass", "8000")
        sound.tempo = try parsed("tempo", "a factor from 0.5 to 4, such as 1.25 or 5/4") { Tempo(parsing: $0) }
        sound.dither = try word("dither")
        return sound
    }

    private func frequency(_ name: String, _ example: String) throws(Failure) -> Double? {
        try parsed(name, "a frequency in Hz from 1 to 20000, such as \(example)") { text in
            Double(text).flatMap { SoundSettings.cutoffs.contains($0) ? $0 : nil }
        }
    }

    private func parsed<Value>(
        _ name: String, _ right: String, _ parse: (String) -> Value?
    ) throws(Failure) -> Value? {
        guard let text = fields[name] else { return nil }
        guard let value = parse(text) else { throw wrong(name, right) }
        return value
    }

    private func decibels(_ name: String, _ bounds: ClosedRange<Double>, _ right: String) throws(Failure) -> Double? {
        try parsed(name, right) { text in Double(text).flatMap { bounds.contains($0) ? $0 : nil } }
    }

    private func fade(_ name: String) throws(Failure) -> MediaTime? {
        try parsed(name, "a time up to 10:00, such as 2.5") { text in
            MediaTime(parsing: text).flatMap { $0.seconds <= 600 ? $0 : nil }
        }
    }
}
