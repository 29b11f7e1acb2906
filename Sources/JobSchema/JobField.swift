/// A field of a job. Its name is the same in Redis and in JSON; with dashes it is the flag of the command.
package struct JobField: Sendable {
    /// The name in Redis and in JSON.
    package let name: String
    /// The placeholder for the value in help texts: `FORMAT`, `TIME`.
    package let placeholder: String
    /// The description of the field, for help texts and the documentation.
    package let summary: String
    /// The default value, for help texts.
    package let fallback: String?

    private init(
        _ name: String, _ placeholder: String, _ summary: String, default fallback: String? = nil
    ) {
        self.name = name
        self.placeholder = placeholder
        self.summary = summary
        self.fallback = fallback
    }

    /// The flag of the command without its leading dashes.
    package var flag: String { String(name.map { $0 == "_" ? "-" : $0 }) }

    /// Whether each of several outputs may have a separate value; other fields apply to the whole job.
    package var isOfOutput: Bool { !Self.jobNames.contains(name) }

    /// Whether a value that is a number is reported as one.
    var isNumeric: Bool { Self.numericPlaceholders.contains(placeholder) }

    private static let numericPlaceholders: Set<String> = [
        "N", "HZ", "DB", "DBTP", "FACTOR", "LUFS", "MS", "Q", "RATE", "SCALE",
    ]

    private static let jobNames: Set<String> = [
        "source", "source_credentials", "source_headers", "start", "end", "duration", "track", "damage", "drc",
        "tag_encoding", "threads",
        "outputs", "atomic", "priority", "delay", "not_before", "attempts", "timeout", "expires", "deadline", "dedup",
        "group", "limit_key", "callback", "traceparent",
    ]

    /// The field with that name; `nil` if there is none.
    package static func named(_ name: String) -> JobField? { byName[name] }

    private static let byName = Dictionary(uniqueKeysWithValues: all.map { ($0.name, $0) })

    /// All fields, in the order of the help text.
    package static let all: [JobField] = [
        JobField(
            "source", "URL",
            "where the audio is: https://, http://, s3://bucket/key, file:/// under an allowed root, or ftp://, ftps://, sftp:// if the operator allows it"
        ),
        JobField(
            "source_credentials", "NAME", "for a source that is a URL: name of the operator's credentials to use",
            default: "none"),
        JobField(
            "source_headers", "JSON", #"for a source that is a URL: {"referer": "https://example.org/"}"#,
            default: "none"),
        JobField("format", "FORMAT", "the container, or a common pair of container and codec: see `respool formats`"),
        JobField("codec", "CODEC", "overrides the format's usual codec", default: "by format"),
        JobField("bit_rate", "RATE", "constant or average bit rate in bit/s: 192k or 192000", default: "by codec"),
        JobField("quality", "Q", "a value on the codec's VBR scale", default: "by codec"),
        JobField(
            "compression_level", "N", "the encoder's effort: ffmpeg's -compression_level", default: "the encoder's"),
        JobField(
            "bit_rate_mode", "MODE", "cbr, abr or vbr, of those that the codec supports", default: "by codec"),
        JobField("application", "NAME", "for opus: audio, voip (speech) or lowdelay", default: "audio"),
        JobField(
            "frame_duration", "MS", "for opus: length of a packet in ms: 2.5 5 10 20 40 60 80 100 120", default: "20"),
        JobField(
            "sample_rate", "HZ", "sample rate in Hz: 44100",
            default: "the source's, or the nearest that the codec supports"),
        JobField("channels", "N", "1 to 64", default: "the source's, or the nearest that the codec supports"),
        JobField(
            "channel_layout", "LAYOUT", "mono, stereo, 5.1, 7.1 and others", default: "the source's, or the codec's"),
        JobField(
            "sample_format", "FORMAT", "u8 s8 s16 s24 s32 f32 f64; for PCM also with le or be", default: "the source's"),
        JobField("segment_duration", "TIME", "for hls: the length of a segment, 1 to 60 s", default: "10"),
        JobField("segment_format", "FORMAT", "for hls: fmp4 or mpegts", default: "fmp4"),
        JobField(
            "bit_rates", "RATES", "for hls: bit rates of the variants: 64k,128k,256k",
            default: "one variant"),
        JobField(
            "peaks_format", "FORMAT", "for peaks: json or dat, the formats of audiowaveform",
            default: "by the output's name, else json"),
        JobField("zoom", "N", "for peaks: samples per point", default: "256"),
        JobField("pixels_per_second", "N", "for peaks: points per second, instead of zoom", default: "by zoom"),
        JobField(
            "points", "N", "for peaks: at most this many points for the whole result, 1 to 4000, instead of zoom",
            default: "by zoom"),
        JobField("bits", "N", "for peaks: 8 or 16", default: "16"),
        JobField(
            "split_channels", "BOOL",
            "for peaks, png and spectrogram: true draws each channel separately, false draws their mean",
            default: "true for png, else false"),
        JobField(
            "size", "WxH", "for png up to 10000x4000, for spectrogram up to 4000x2000 pixels",
            default: "1800x280, or 1024x512"),
        JobField(
            "colors", "COLORS", "for png: foreground and background, #rrggbb or #rrggbbaa",
            default: "#3366cc,#ffffff"),
        JobField(
            "dynamic_range", "DB", "for spectrogram: range below full scale in dB, 10 to 200",
            default: "100"),
        JobField("start", "TIME", "start of the range: 5:00, 1:02:03.5, 300, 13230000/44100", default: "0"),
        JobField("end", "TIME", "end of the range (exclusive)", default: "the source's end"),
        JobField("duration", "TIME", "length of the range, instead of end", default: "to the source's end"),
        JobField(
            "channel_map", "CHANNELS", "the source's channels to keep, in output order: R,L or 2,1 or FC",
            default: "as they are"),
        JobField(
            "mix", "ROWS", "mix matrix, one expression per output channel: FL=FL+0.707FC,FR=FR+0.707FC",
            default: "by layout"),
        JobField("high_pass", "HZ", "removes sound below a frequency in Hz, by 12 dB an octave: 80", default: "off"),
        JobField("low_pass", "HZ", "removes sound above a frequency in Hz, by 12 dB an octave: 8000", default: "off"),
        JobField("tempo", "FACTOR", "speed without a change of pitch, 0.5 to 4: 1.25", default: "1"),
        JobField("resampler", "ENGINE", "swr, or soxr, which has the steepest filter", default: "swr"),
        JobField("loudness", "LUFS", "integrated loudness of the result in LUFS (EBU R 128): -16", default: "off"),
        JobField(
            "true_peak", "DBTP", "the limiter's ceiling, or off",
            default: "-1 with loudness or a gain above 0, else off"),
        JobField("gain", "DB", "change of level in dB: -3 or 6", default: "0"),
        JobField("fade_in", "TIME", "length of a fade at the start", default: "0"),
        JobField("fade_out", "TIME", "length of a fade at the end", default: "0"),
        JobField(
            "trim_silence", "DB",
            "removes silence from both ends, below a level in "
                + "dB: -60; or -60,0.5 to keep silence shorter than 0.5 s",
            default: "off"),
        JobField("replay_gain", "MODE", "track writes ReplayGain tags", default: "off"),
        JobField(
            "dither", "METHOD", "for samples that lose bits: none, rectangular, triangular or shaped",
            default: "triangular"),
        JobField(
            "output", "PATH",
            "where the result goes: a path under the output root, s3://bucket/key, a URL for a PUT, or "
                + "ftp://, ftps://, sftp:// if the operator allows it; {stem}.{ext} and other templates are expanded",
            default: "<job id>.<extension>"),
        JobField("output_method", "METHOD", "for an output that is a URL: PUT or POST", default: "PUT"),
        JobField(
            "output_headers", "JSON", #"for an output that is a URL: {"x-ms-blob-type": "BlockBlob"}"#,
            default: "the content-type"),
        JobField(
            "output_credentials", "NAME", "for an output that is a URL: name of the operator's credentials to use",
            default: "none"),
        JobField(
            "overwrite", "MODE",
            "if the output exists: replace it, skip this output with a warning, or fail",
            default: "replace"),
        JobField(
            "outputs", "JSON", "several results from one decode: a list of objects, each with its own fields",
            default: "one result"),
        JobField("atomic", "BOOL", "with outputs: publishes all of them or none", default: "false"),
        JobField("priority", "P", "high, normal or low; a higher priority always goes first", default: "normal"),
        JobField("delay", "SECONDS", "wait before the first attempt, counted from admission", default: "0"),
        JobField(
            "not_before", "INSTANT", "starts no earlier than an ISO 8601 instant: 2030-01-31T12:00:00Z", default: "now"),
        JobField("attempts", "N", "number of attempts, 1 to 100", default: "5"),
        JobField("timeout", "SECONDS", "run time of one attempt", default: "3600"),
        JobField(
            "expires", "INSTANT", "expires if not started by then: ISO 8601, or seconds from admission",
            default: "never"),
        JobField(
            "deadline", "INSTANT",
            "fails, even while running, if not finished by then: ISO 8601, or seconds from admission",
            default: "never"),
        JobField(
            "dedup", "KEY", "while a job with this key is unfinished, a push with the same key returns that job",
            default: "none"),
        JobField(
            "metadata", "JSON", #"tags to set: {"title": "…", "artist": ["…", "…"]}; "" removes one"#,
            default: "carried over"),
        JobField(
            "chapters", "FORM", "json or webvtt: also writes chapters to a file beside the result", default: "none"),
        JobField(
            "tag_encoding", "CHARSET", "actual character set of tags declared as Latin-1: cp1251, gbk, shift_jis",
            default: "as declared"),
        JobField(
            "passthrough", "MODE",
            "auto copies packets that need no encoding, never always encodes, require fails if a copy is not possible",
            default: "auto"),
        JobField(
            "track", "TRACK",
            "which audio track: a number from 1, or a language such as jpn, ger or de; all keeps every track in one file",
            default: "the one that players choose"),
        JobField(
            "damage", "MODE", "fail on a damaged or truncated source, or accept what can be decoded",
            default: "fail"),
        JobField(
            "drc", "SCALE",
            "share of the dynamic range compression of AC-3 and E-AC-3 to apply: 0 (none) to 1 (all)",
            default: "1"),
        JobField(
            "threads", "N",
            "how many threads encode: auto, or 1 to 64; with a number, the result has the same bytes each time, and all numbers above 1 give the same",
            default: "auto: the free cores"),
        JobField(
            "group", "NAME", "name under which jobs are watched, listed, cancelled and retried together",
            default: "none"),
        JobField(
            "limit_key", "KEY", "key of a concurrency limit, such as a host or a tenant; see `respool limit`",
            default: "none"),
        JobField("callback", "URL", "gets a signed POST when the job ends", default: "none"),
        JobField(
            "traceparent", "TRACEPARENT",
            "the trace that the job belongs to (W3C Trace Context)",
            default: "none"),
    ]
}
