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

    private static let jobNames: Set<String> = [
        "source", "source_credentials", "source_headers", "start", "end", "duration", "track", "damage", "drc",
        "tag_encoding",
        "outputs", "atomic", "priority", "delay", "not_before", "attempts", "timeout", "expires", "deadline", "dedup",
        "group", "limit_key", "callback",
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
            "source_credentials", "NAME", "for a source that is a URL: which of the operator's credentials to show",
            default: "none"),
        JobField(
            "source_headers", "JSON", #"for a source that is a URL: {"referer": "https://example.org/"}"#,
            default: "none"),
        JobField("format", "FORMAT", "the container, or a well-known pairing: see `respool formats`"),
        JobField("codec", "CODEC", "overrides the format's usual codec", default: "by format"),
        JobField("bit_rate", "RATE", "constant or average bits a second: 192k or 192000", default: "by codec"),
        JobField("quality", "Q", "a value of the codec's own VBR scale", default: "by codec"),
        JobField(
            "sample_rate", "HZ", "samples a second: 44100", default: "the source's, or the nearest the codec takes"),
        JobField("channels", "N", "1 to 64", default: "the source's, or the nearest the codec takes"),
        JobField(
            "channel_layout", "LAYOUT", "mono, stereo, 5.1, 7.1 and others", default: "the source's, or the codec's"),
        JobField(
            "sample_format", "FORMAT", "u8 s8 s16 s24 s32 f32 f64; for PCM also with le or be", default: "the source's"),
        JobField("segment_duration", "TIME", "for hls: the length of a segment, 1 to 60 s", default: "10"),
        JobField("segment_format", "FORMAT", "for hls: fmp4 or mpegts", default: "fmp4"),
        JobField(
            "bit_rates", "RATES", "for hls: those of variants among which players choose: 64k,128k,256k",
            default: "one variant"),
        JobField(
            "peaks_format", "FORMAT", "for peaks: json or dat, the formats of audiowaveform",
            default: "by the output's name, else json"),
        JobField("zoom", "N", "for peaks: samples of one point", default: "256"),
        JobField("pixels_per_second", "N", "for peaks: points a second, in place of zoom", default: "by zoom"),
        JobField("bits", "N", "for peaks: 8 or 16", default: "16"),
        JobField(
            "split_channels", "BOOL", "for peaks, png and spectrogram: a lane for each channel, or one of their mean",
            default: "true for png, else false"),
        JobField(
            "size", "WxH", "for png up to 10000x4000, for spectrogram up to 4000x2000 pixels",
            default: "1800x280, or 1024x512"),
        JobField(
            "colors", "COLORS", "for png: foreground and background, #rrggbb or #rrggbbaa",
            default: "#3366cc,#ffffff"),
        JobField(
            "dynamic_range", "DB", "for spectrogram: how far below full scale it reaches, 10 to 200",
            default: "100"),
        JobField("start", "TIME", "first moment of the range: 5:00, 1:02:03.5, 300, 13230000/44100", default: "0"),
        JobField("end", "TIME", "end of the range, which does not belong to it", default: "the source's end"),
        JobField("duration", "TIME", "length of the range, in place of end", default: "to the source's end"),
        JobField(
            "channel_map", "CHANNELS", "the source's channels to keep, in their new order: R,L or 2,1 or FC",
            default: "as they are"),
        JobField(
            "mix", "ROWS", "what goes into each channel: FL=FL+0.707FC,FR=FR+0.707FC", default: "by layout"),
        JobField("resampler", "ENGINE", "swr, or soxr for the steepest filter", default: "swr"),
        JobField("loudness", "LUFS", "integrated loudness of the result by EBU R 128: -16", default: "off"),
        JobField(
            "true_peak", "DBTP", "the limiter's ceiling, or off",
            default: "-1 with loudness or a gain above 0, else off"),
        JobField("gain", "DB", "a change of level: -3 or 6", default: "0"),
        JobField("fade_in", "TIME", "length of a fade at the start", default: "0"),
        JobField("fade_out", "TIME", "length of a fade at the end", default: "0"),
        JobField(
            "trim_silence", "DB", "takes silence off both ends: -60, or -60,0.5 to leave less than half a second",
            default: "off"),
        JobField("replay_gain", "MODE", "track writes the tags of ReplayGain", default: "off"),
        JobField(
            "output", "PATH",
            "where the result goes: a path under the output root, s3://bucket/key, a URL to PUT to, or ftp://, ftps://, sftp:// if the operator allows it; {stem}.{ext} and others are filled in",
            default: "<job id>.<extension>"),
        JobField("output_method", "METHOD", "for an output that is a URL: PUT or POST", default: "PUT"),
        JobField(
            "output_headers", "JSON", #"for an output that is a URL: {"x-ms-blob-type": "BlockBlob"}"#,
            default: "the content-type"),
        JobField(
            "output_credentials", "NAME", "for an output that is a URL: which of the operator's credentials to show",
            default: "none"),
        JobField(
            "overwrite", "MODE",
            "where the output exists: replace it, skip what would replace it, with a warning, or fail",
            default: "replace"),
        JobField(
            "outputs", "JSON", "several results of one decode: a list of objects with fields of their own",
            default: "one result"),
        JobField("atomic", "BOOL", "with outputs: all of them appear, or none", default: "false"),
        JobField("priority", "P", "high, normal or low, strictly in this order", default: "normal"),
        JobField("delay", "SECONDS", "waits from admission", default: "0"),
        JobField("not_before", "INSTANT", "waits until an ISO 8601 instant: 2030-01-31T12:00:00Z", default: "now"),
        JobField("attempts", "N", "tries, 1 to 100", default: "5"),
        JobField("timeout", "SECONDS", "run time of one try", default: "3600"),
        JobField(
            "expires", "INSTANT", "gives up if not started by then: ISO 8601, or seconds from admission",
            default: "never"),
        JobField(
            "deadline", "INSTANT",
            "fails, even while it runs, if not over by then: ISO 8601, or seconds from admission",
            default: "never"),
        JobField("dedup", "KEY", "while a job with this key is not over, a second one is the first", default: "none"),
        JobField(
            "metadata", "JSON", #"tags to set: {"title": "…", "artist": ["…", "…"]}; "" removes one"#,
            default: "carried over"),
        JobField("chapters", "FORM", "json or webvtt: chapters also in a file beside the result", default: "none"),
        JobField(
            "tag_encoding", "CHARSET", "true character set of tags that claim Latin-1: cp1251, gbk, shift_jis",
            default: "as declared"),
        JobField(
            "passthrough", "MODE",
            "auto copies packets that already fit in place of encoding them anew, never does not, require insists",
            default: "auto"),
        JobField(
            "track", "TRACK",
            "which audio track: a number from 1, or a language, as jpn, ger or de; all for every one, in a file of several",
            default: "the one a player takes"),
        JobField(
            "damage", "MODE", "fail or accept a source that is damaged or cut short: accept takes what there is",
            default: "fail"),
        JobField(
            "drc", "SCALE",
            "how much of the dynamic range compression in AC-3 and E-AC-3 is applied: 0 (none) to 1 (all)",
            default: "1"),
        JobField("group", "NAME", "a name to watch, list, cancel and retry jobs by as one", default: "none"),
        JobField(
            "limit_key", "KEY", "a host, a tenant: no more jobs of one key run at once than `respool limit` says",
            default: "none"),
        JobField("callback", "URL", "gets a signed POST when the job ends", default: "none"),
    ]
}
