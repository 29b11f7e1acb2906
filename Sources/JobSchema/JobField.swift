import MediaTypes

/// A field of a job. Its name is the same in Redis and in JSON; with dashes it is the flag of the command.
package struct JobField: Sendable {
    /// The name in Redis and in JSON.
    package let name: String
    /// The placeholder for the value in help texts: `FORMAT`, `TIME`.
    package let placeholder: String
    /// What the field applies to.
    package let scope: Scope
    /// The values that the field accepts.
    package let type: FieldType
    /// The description of the field, for help texts and the documentation.
    package let summary: String
    /// The default value, for help texts.
    package let fallback: String?

    /// What a field applies to.
    package enum Scope: Sendable {
        /// A result: each of several outputs may have a separate value.
        case output
        /// The conversion as a whole.
        case job
        /// When and how often the job runs: used by the queue and its workers, not by the conversion.
        case queue
    }

    private init(
        _ name: String, _ placeholder: String, _ scope: Scope, _ type: FieldType, _ summary: String,
        default fallback: String? = nil
    ) {
        self.name = name
        self.placeholder = placeholder
        self.scope = scope
        self.type = type
        self.summary = summary
        self.fallback = fallback
    }

    /// The flag of the command without its leading dashes.
    package var flag: String { String(name.map { $0 == "_" ? "-" : $0 }) }

    /// Whether a value that is a number is reported as one.
    var isNumeric: Bool { Self.numericPlaceholders.contains(placeholder) }

    private static let numericPlaceholders: Set<String> = [
        "N", "HZ", "DB", "DBTP", "FACTOR", "LUFS", "MS", "Q", "RATE", "SCALE",
    ]

    /// The field with that name; `nil` if there is none.
    package static func named(_ name: String) -> JobField? { byName[name] }

    private static let byName = Dictionary(uniqueKeysWithValues: all.map { ($0.name, $0) })

    /// All fields, in the order of the help text.
    package static let all: [JobField] = [
        JobField(
            "source", "URL", .job, .text,
            "where the audio is: https://, http://, s3://bucket/key, file:/// under an allowed root, or ftp://, ftps://, sftp:// if the operator allows it"
        ),
        JobField(
            "source_credentials", "NAME", .job, .name(),
            "for a source that is a URL: name of the operator's credentials to use",
            default: "none"),
        JobField(
            "source_headers", "JSON", .job, .text, #"for a source that is a URL: {"referer": "https://example.org/"}"#,
            default: "none"),
        JobField(
            "format", "FORMAT", .output, .text,
            "the container, or a common pair of container and codec: see `respool formats`"),
        JobField("codec", "CODEC", .output, .text, "overrides the format's usual codec", default: "by format"),
        JobField(
            "bit_rate", "RATE", .output, .value("a bit rate in bit/s, such as 192k or 192000", FieldReader.bitRate),
            "constant or average bit rate in bit/s: 192k or 192000", default: "by codec"),
        JobField(
            "quality", "Q", .output, .number("a number on the codec's VBR scale"), "a value on the codec's VBR scale",
            default: "by codec"),
        JobField(
            "compression_level", "N", .output, .whole(0...100), "the encoder's effort: ffmpeg's -compression_level",
            default: "the encoder's"),
        JobField(
            "bit_rate_mode", "MODE", .output, .word(BitRateMode.self),
            "cbr, abr or vbr, of those that the codec supports", default: "by codec"),
        JobField(
            "application", "NAME", .output, .word(OpusApplication.self), "for opus: audio, voip (speech) or lowdelay",
            default: "audio"),
        JobField(
            "frame_duration", "MS", .output, .number("a number of milliseconds, such as 20 or 2.5", 1...1000),
            "for opus: length of a packet in ms: 2.5 5 10 20 40 60 80 100 120", default: "20"),
        JobField(
            "sample_rate", "HZ", .output, .whole(1...768_000), "sample rate in Hz: 44100",
            default: "the source's, or the nearest that the codec supports"),
        JobField(
            "channels", "N", .output, .whole(1...64), "1 to 64",
            default: "the source's, or the nearest that the codec supports"),
        JobField(
            "channel_layout", "LAYOUT", .output, .text, "mono, stereo, 5.1, 7.1 and others",
            default: "the source's, or the codec's"),
        JobField(
            "sample_format", "FORMAT", .output, .word(SampleFormat.self),
            "u8 s8 s16 s24 s32 f32 f64; for PCM also with le or be", default: "the source's"),
        JobField(
            "segment_duration", "TIME", .output, .segmentDuration, "for hls: the length of a segment, 1 to 60 s",
            default: "10"),
        JobField(
            "segment_format", "FORMAT", .output, .word(SegmentSettings.Container.self), "for hls: fmp4 or mpegts",
            default: "fmp4"),
        JobField(
            "bit_rates", "RATES", .output, .value("bit rates in bit/s, such as 64k,128k", FieldReader.bitRates),
            "for hls: bit rates of the variants: 64k,128k,256k",
            default: "one variant"),
        JobField(
            "peaks_format", "FORMAT", .output, .word(PictureSettings.PeaksForm.self),
            "for peaks: json or dat, the formats of audiowaveform",
            default: "by the output's name, else json"),
        JobField(
            "zoom", "N", .output, .whole(PictureSettings.samplesPerPixel), "for peaks: samples per point",
            default: "256"),
        JobField(
            "pixels_per_second", "N", .output, .whole(PictureSettings.pixelsPerSecond),
            "for peaks: points per second, instead of zoom", default: "by zoom"),
        JobField(
            "points", "N", .output, .whole(PictureSettings.points),
            "for peaks: at most this many points for the whole result, 1 to 4000, instead of zoom",
            default: "by zoom"),
        JobField(
            "bits", "N", .output, .value("8 or 16") { ["8", "16"].contains($0) ? $0 : nil }, "for peaks: 8 or 16",
            default: "16"),
        JobField(
            "split_channels", "BOOL", .output, .boolean,
            "for peaks, png and spectrogram: true draws each channel separately, false draws their mean",
            default: "true for png, else false"),
        JobField(
            "size", "WxH", .output, .text, "for png up to 10000x4000, for spectrogram up to 4000x2000 pixels",
            default: "1800x280, or 1024x512"),
        JobField(
            "colors", "COLORS", .output,
            .value("foreground and background, such as #3366cc,#ffffff or #3366ccff,#00000000", FieldReader.colors),
            "for png: foreground and background, #rrggbb or #rrggbbaa",
            default: "#3366cc,#ffffff"),
        JobField(
            "dynamic_range", "DB", .output, .number("decibels from 10 to 200", PictureSettings.dynamicRanges),
            "for spectrogram: range below full scale in dB, 10 to 200",
            default: "100"),
        JobField(
            "start", "TIME", .job, .time, "start of the range: 5:00, 1:02:03.5, 300, 13230000/44100", default: "0"),
        JobField("end", "TIME", .job, .time, "end of the range (exclusive)", default: "the source's end"),
        JobField(
            "duration", "TIME", .job, .time, "length of the range, instead of end", default: "to the source's end"),
        JobField(
            "channel_map", "CHANNELS", .output,
            .value("channels separated by commas, such as R,L or 2,1", ChannelReference.list(parsing:)),
            "the source's channels to keep, in output order: R,L or 2,1 or FC",
            default: "as they are"),
        JobField(
            "mix", "ROWS", .output,
            .value("one expression per output channel, such as FL=FL+0.707FC,FR=FR+0.707FC", MixMatrix.init(parsing:)),
            "mix matrix, one expression per output channel: FL=FL+0.707FC,FR=FR+0.707FC",
            default: "by layout"),
        JobField(
            "high_pass", "HZ", .output, .number("a frequency in Hz from 1 to 20000, such as 80", SoundSettings.cutoffs),
            "removes sound below a frequency in Hz, by 12 dB an octave: 80", default: "off"),
        JobField(
            "low_pass", "HZ", .output,
            .number("a frequency in Hz from 1 to 20000, such as 8000", SoundSettings.cutoffs),
            "removes sound above a frequency in Hz, by 12 dB an octave: 8000", default: "off"),
        JobField(
            "tempo", "FACTOR", .output, .value("a factor from 0.5 to 4, such as 1.25 or 5/4", Tempo.init(parsing:)),
            "speed without a change of pitch, 0.5 to 4: 1.25", default: "1"),
        JobField(
            "resampler", "ENGINE", .output, .word(ResamplerEngine.self), "swr, or soxr, which has the steepest filter",
            default: "swr"),
        JobField(
            "loudness", "LUFS", .output, .number("a target in LUFS from -70 to 0, such as -16", -70...0),
            "integrated loudness of the result in LUFS (EBU R 128): -16", default: "off"),
        JobField(
            "true_peak", "DBTP", .output, .number("a ceiling in dBTP from -20 to 0, or off", -20...0, or: "off"),
            "the limiter's ceiling, or off",
            default: "-1 with loudness or a gain above 0, else off"),
        JobField(
            "gain", "DB", .output, .number("decibels from -120 to 60", -120...60), "change of level in dB: -3 or 6",
            default: "0"),
        JobField("fade_in", "TIME", .output, .fade, "length of a fade at the start", default: "0"),
        JobField("fade_out", "TIME", .output, .fade, "length of a fade at the end", default: "0"),
        JobField(
            "trim_silence", "DB", .output,
            .value(
                "a threshold in dB from -120 to 0, and a minimum length in seconds, such as -60,0.5",
                SilenceTrim.init(parsing:)),
            "removes silence from both ends, below a level in "
                + "dB: -60; or -60,0.5 to keep silence shorter than 0.5 s",
            default: "off"),
        JobField(
            "replay_gain", "MODE", .output, .word(ReplayGain.self), "track writes ReplayGain tags", default: "off"),
        JobField(
            "dither", "METHOD", .output, .word(DitherMethod.self),
            "for samples that lose bits: none, rectangular, triangular or shaped",
            default: "triangular"),
        JobField(
            "output", "PATH", .output, .text,
            "where the result goes: a path under the output root, s3://bucket/key, a URL for a PUT, or "
                + "ftp://, ftps://, sftp:// if the operator allows it; {stem}.{ext} and other templates are expanded",
            default: "<job id>.<extension>"),
        JobField(
            "output_method", "METHOD", .output, .word(Delivery.Method.self), "for an output that is a URL: PUT or POST",
            default: "PUT"),
        JobField(
            "output_headers", "JSON", .output, .text, #"for an output that is a URL: {"x-ms-blob-type": "BlockBlob"}"#,
            default: "the content-type"),
        JobField(
            "output_credentials", "NAME", .output, .name(),
            "for an output that is a URL: name of the operator's credentials to use",
            default: "none"),
        JobField(
            "overwrite", "MODE", .output, .word(Overwrite.self),
            "if the output exists: replace it, skip this output with a warning, or fail",
            default: "replace"),
        JobField(
            "outputs", "JSON", .job, .text,
            "several results from one decode: a list of objects, each with its own fields",
            default: "one result"),
        JobField("atomic", "BOOL", .job, .boolean, "with outputs: publishes all of them or none", default: "false"),
        JobField(
            "priority", "P", .queue, .words(JobSpec.Priority.allCases.map(\.name)),
            "high, normal or low; a higher priority always goes first", default: "normal"),
        JobField(
            "delay", "SECONDS", .queue, .seconds(JobSpec.Limit.delay),
            "wait before the first attempt, counted from admission", default: "0"),
        JobField(
            "not_before", "INSTANT", .queue,
            .value("an ISO 8601 instant, such as 2030-01-31T12:00:00Z", Instant.milliseconds(parsing:)),
            "starts no earlier than an ISO 8601 instant: 2030-01-31T12:00:00Z", default: "now"),
        JobField("attempts", "N", .queue, .whole(JobSpec.Limit.attempts), "number of attempts, 1 to 100", default: "5"),
        JobField(
            "timeout", "SECONDS", .queue, .seconds(JobSpec.Limit.timeout), "run time of one attempt", default: "3600"),
        JobField(
            "expires", "INSTANT", .queue, .moment,
            "expires if not started by then: ISO 8601, or seconds from admission",
            default: "never"),
        JobField(
            "deadline", "INSTANT", .queue, .moment,
            "fails, even while running, if not finished by then: ISO 8601, or seconds from admission",
            default: "never"),
        JobField(
            "dedup", "KEY", .queue, .text,
            "while a job with this key is unfinished, a push with the same key returns that job",
            default: "none"),
        JobField(
            "metadata", "JSON", .output, .text, #"tags to set: {"title": "…", "artist": ["…", "…"]}; "" removes one"#,
            default: "carried over"),
        JobField(
            "chapters", "FORM", .output, .word(TagSettings.ChapterForm.self),
            "json or webvtt: also writes chapters to a file beside the result", default: "none"),
        JobField(
            "tag_encoding", "CHARSET", .job, .words(TagEncoding.names.map { $0.lowercased() }, TagEncoding.named),
            "actual character set of tags declared as Latin-1: cp1251, gbk, shift_jis",
            default: "as declared"),
        JobField(
            "passthrough", "MODE", .output, .word(Passthrough.self),
            "auto copies packets that need no encoding, never always encodes, require fails if a copy is not possible",
            default: "auto"),
        JobField(
            "track", "TRACK", .job,
            .value("the number of an audio track from 1, a language such as jpn, or all", FieldReader.track),
            "which audio track: a number from 1, or a language such as jpn, ger or de; all keeps every track in one file",
            default: "the one that players choose"),
        JobField(
            "damage", "MODE", .job, .word(DamagePolicy.self),
            "fail on a damaged or truncated source, or accept what can be decoded",
            default: "fail"),
        JobField(
            "drc", "SCALE", .job, .number("a number from 0 (none) to 1 (all), such as 0.5", 0...1),
            "share of the dynamic range compression of AC-3 and E-AC-3 to apply: 0 (none) to 1 (all)",
            default: "1"),
        JobField(
            "threads", "N", .job, .whole(1...64, or: "auto"),
            "how many threads encode: auto, or 1 to 64; with a number, the result has the same bytes each time, and all numbers above 1 give the same",
            default: "auto: the free cores"),
        JobField(
            "group", "NAME", .queue, .name(),
            "name under which jobs are watched, listed, cancelled and retried together",
            default: "none"),
        JobField(
            "limit_key", "KEY", .queue, .name(atMost: 128, also: ":@"),
            "key of a concurrency limit, such as a host or a tenant; see `respool limit`",
            default: "none"),
        JobField("callback", "URL", .queue, .text, "gets a signed POST when the job ends", default: "none"),
        JobField(
            "traceparent", "TRACEPARENT", .queue, .value(TraceParent.rule, TraceParent.init),
            "the trace that the job belongs to (W3C Trace Context)",
            default: "none"),
    ]
}
