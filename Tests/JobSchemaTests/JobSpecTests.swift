import Foundation
import JobSchema
import MediaTypes
import Testing

@Suite struct JobSpecTests {
    private static let plain = ["source": "https://example.org/a.flac", "format": "mp3"]

    private static func spec(_ fields: [String: String]) throws -> JobSpec {
        try JobSpec(fields: plain.merging(fields) { $1 })
    }

    @Test func `fields that a job leaves out get their defaults`() throws {
        let spec = try Self.spec([:])
        var rendition = Rendition(format: "mp3")
        rendition.passthrough = .auto
        #expect(spec.plan.renditions[0] == rendition)
        #expect(spec.plan.source.range == .whole)
        #expect(spec.priority == .normal)
        #expect(spec.start == nil)
        #expect(spec.attempts == 5)
        #expect(spec.timeout == .seconds(3600))
        #expect(spec.expires == nil && spec.deadline == nil)
        #expect(spec.destinations == [nil] && spec.dedup == nil)
    }

    @Test func `every supported field is read`() throws {
        let spec = try JobSpec(fields: [
            "source": "file:///srv/a.wav", "format": "caf", "codec": "pcm", "sample_rate": "48000", "channels": "2",
            "sample_format": "s24be", "start": "1234567/44100", "duration": "1:00.5", "output": "a/b.caf",
            "priority": "high", "delay": "1.5", "attempts": "1", "timeout": "90", "expires": "60", "dedup": "k",
            "deadline": "2030-01-31T12:00:00Z", "passthrough": "never",
        ])
        #expect(
            spec.plan.renditions[0]
                == Rendition(format: "caf", codec: "pcm", sampleRate: 48000, channels: 2, sampleFormat: .s24be))
        #expect(spec.plan.source.range.start == MediaTime(value: 1_234_567, timescale: 44100))
        #expect(spec.plan.source.range.end == spec.plan.source.range.start.adding(MediaTime(value: 121, timescale: 2)))
        #expect(spec.start == .after(.milliseconds(1500)))
        #expect(spec.expires == .after(.seconds(60)) && spec.deadline == .at(1_896_091_200_000))
        #expect(spec.priority == .high && spec.attempts == 1 && spec.timeout == .seconds(90) && spec.dedup == "k")
    }

    @Test(arguments: ["s3://{group}/{stem}.{ext}", "s3://bucket/", "S3://bucket/a b/", "podcast:1.mp3", "./s3:/a.mp3"])
    func `an output name may contain placeholders`(output: String) throws {
        #expect(try Self.spec(["output": output, "group": "night"]).destinations == [output])
    }

    @Test func `each output has its own overwrite rule`() throws {
        let outputs = #"[{"overwrite":"fail"},{},{"overwrite":null},{"overwrite":"skip","output":"https://h/a"}]"#
        let spec = try Self.spec(["outputs": outputs, "overwrite": "skip"])
        #expect(spec.deliveries.map(\.overwrite) == [.fail, .skip, .replace, .skip])
        #expect(try Self.spec([:]).deliveries == [Delivery()])
    }

    @Test func `several tracks need a format that holds several`() throws {
        #expect(try Self.spec(["format": "mka", "track": "all"]).plan.source.track == .all)
        let refused: [([String: String], String)] = [
            ([:], "m4a m4b alac mp4 mov mka webm"), (["format": "m4a", "loudness": "-16"], "single track"),
            (["format": "m4a", "passthrough": "require"], "encodes every track;"),
        ]
        for (fields, words) in refused {
            let failure = #expect(throws: Failure.self) { try Self.spec(fields.merging(["track": "all"]) { $1 }) }
            #expect(failure?.code == .invalidRequest)
            #expect(failure?.message.contains(words) == true)
        }
    }

    @Test func `the fields that change samples are read`() throws {
        let sound = try Self.spec([
            "channel_map": "R,c1", "mix": "c1=0.5c1-0.25L", "resampler": "soxr", "loudness": "-16", "true_peak": "-2",
            "fade_in": "0.5", "fade_out": "1:00", "trim_silence": "-60,0.5", "replay_gain": "track",
            "dither": "shaped", "format": "wav", "high_pass": "80", "low_pass": "8000", "tempo": "5/4",
        ]).plan.renditions[0].sound
        #expect(sound.channelMap == [.speaker("FR"), .number(1)])
        let terms = sound.mix?.rows[0].terms ?? []
        #expect(terms.map(\.factor) == [0.5, -0.25])
        #expect(terms.map(\.channel) == [ChannelReference.number(1), .speaker("FL")])
        #expect(sound.mix == MixMatrix(parsing: try #require(sound.mix).description))
        #expect(sound.resampler == .soxr && sound.loudness == -16 && sound.ceiling == -2)
        #expect(
            sound.fadeIn == MediaTime(value: 1, timescale: 2) && sound.fadeOut == MediaTime(value: 60, timescale: 1))
        #expect(sound.trimSilence == SilenceTrim(threshold: -60, minimum: MediaTime(value: 1, timescale: 2)))
        #expect(
            sound.replayGain == .track && sound.dither == .shaped && sound.highPass == 80 && sound.lowPass == 8000
                && sound.tempo == Tempo(parsing: "1.25"))
        #expect(try Self.spec(["gain": "3", "true_peak": "off"]).plan.renditions[0].sound.ceiling == nil)
    }

    @Test func `the settings of an encoder are read for each output`() throws {
        let outputs = #"[{},{"format":"flac","compression_level":12},{"compression_level":null}]"#
        let spec = try Self.spec(["outputs": outputs, "compression_level": "2"])
        #expect(spec.plan.renditions.map(\.encoder.compressionLevel) == [2, 12, nil])
        #expect(spec.plan.requestedSettings(of: 1)["compression_level"] == "12")
    }

    @Test(arguments: [("192k", 192_000), ("192K", 192_000), ("128000", 128_000)])
    func `bit rates are parsed`(text: String, expected: Int) throws {
        #expect(try Self.spec(["bit_rate": text]).plan.renditions[0].bitRate == expected)
    }

    @Test func `the bit rates of a stream's variants are read`() throws {
        let spec = try Self.spec(["format": "hls", "bit_rates": "64k,128000"])
        #expect(spec.plan.renditions[0].segments.bitRates == [64_000, 128_000])
        for (fields, words) in [
            (["bit_rates": "64k"], "hls"), (["format": "hls", "bit_rates": "64k,"], "`64k,`"),
            (["format": "hls", "bit_rates": "64k,64k"], "different bit rates"),
            (["format": "hls", "bit_rates": "64k", "bit_rate": "96k"], "mutually exclusive"),
            (["format": "hls", "bit_rates": "64k,9k", "codec": "ac3"], "9000"),
        ] {
            let failure = #expect(throws: Failure.self) { try Self.spec(fields) }
            #expect(failure?.code == .invalidRequest && failure?.message.contains(words) == true, "\(fields)")
        }
    }

    private static let wrongValues: [(fields: [String: String], named: String)] = [
        (["format": "xyz"], "xyz"), (["codec": "opus"], "opus"), (["bit_rate": "fast"], "fast"),
        (["sample_rate": "0"], "sample_rate"), (["sample_rate": "44101"], "44101"), (["channels": "3"], "3"),
        (["quality": "nan"], "nan"), (["expires": "0x10"], "`0x10`"), (["delay": "0x10"], "`0x10`"),
        (["compression_level": "best"], "`best`"), (["compression_level": "10"], "0 to 9"),
        (["bit_rate_mode": "vbr2"], "cbr, abr or vbr"), (["application": "music"], "audio, voip or lowdelay"),
        (["dither": "noise"], "one of none rectangular"),
        (["dither": "shaped", "format": "flac", "passthrough": "require"], "requires encoding"),
        (["high_pass": "0"], "1 to 20000"), (["low_pass": "20001"], "1 to 20000"), (["tempo": "5"], "0.5 to 4"),
        (["high_pass": "80", "passthrough": "require"], "high_pass (80.0) requires encoding"),
        (["gain": "-3", "passthrough": "require"], "gain (-3.0) requires encoding"),
        (["frame_duration": "long"], "milliseconds"), (["frame_duration": "20"], "mp3 does not support"),
        (["bit_rate_mode": "cbr", "quality": "2"], "variable bit rate"),
        (["compression_level": "1", "passthrough": "require"], "requires encoding"),
        (["priority": "urgent"], "urgent"), (["attempts": "0"], "attempts"),
        (["attempts": "1e2"], "1e2"), (["timeout": "inf"], "inf"), (["delay": "-1"], "-1"),
        (["delay": "1", "not_before": "2030-01-01T00:00:00Z"], "delay"), (["not_before": "tomorrow"], "tomorrow"),
        (["dedup": ""], "dedup"), (["source": "scp://x/y"], "scp"), (["source": "/etc/passwd"], "/etc/passwd"),
        (["source": ""], "source"), (["output": "gopher://host/a.mp3"], "gopher"),
        (["output": "ftp://host/folder/"], "must name a file"), (["output": "sftp://host/a.mp3?b"], "must name a file"),
        (["output": "ftp:///a.mp3"], "valid URL"), (["output": "ftp://host"], "must name a file"),
        (["output": "sftp://host/a/.."], "must name a file"), (["output": "ftp://host/a;type=a/b"], "must name a file"),
        (["output": "ftp://host/%e9.mp3"], "must name a file"), (["output": "ftp://host/a%2fb"], "must name a file"),
        (["output": "sftp://host/a", "overwrite": "fail"], "always replaced"),
        (["output": "ftp://host/a.mp3", "output_method": "POST"], "takes `output_credentials` only"),
        (["output": "https://"], "valid URL"),
        (["output": "https://u:p@h/\u{e9}"], "`https://h/\u{e9}`"),
        (["output_headers": "{\"a\":\"b\"}", "output": "a.mp3"], "https://"),
        (["output_method": "GET", "output": "https://h/a"], "PUT or POST"),
        (["output_headers": "{\"host\":\"x\"}", "output": "https://h/a"], "`host`"),
        (["output_headers": "{\"a\":\"x\\r\\ny: z\"}", "output": "https://h/a"], "`a`"),
        (["output_headers": "[]", "output": "https://h/a"], "JSON object"),
        (["output_headers": "{\"a_b\":\"x\"}", "output": "https://h/a"], "`a_b`"),
        (["output_headers": "{\"a.b\":\"x\"}", "output": "https://h/a"], "`a.b`"),
        (["output_headers": "{\"a\":\" \"}", "output": "https://h/a"], "`a`"),
        (["output_headers": "{\"a\":\"x\",\"A\":\"y\"}", "output": "https://h/a"], "must occur once"),
        (["source_headers": "{\"range\":\"bytes=0-\"}"], "`range`"), (["source_credentials": "a/b"], "1 to 64"),
        (["source_credentials": "a", "source": "s3://bucket/key"], "https://"),
        (["source_credentials": "a", "source_headers": "{\"Authorization\":\"x\"}"], "mutually exclusive"),
        (["output_credentials": "a", "output": "s3://bucket/key"], "https://"),
        (["output": "{steam}.mp3"], "`{steam}`"), (["output": "{group}.mp3"], "no `group`"),
        (["output": "s3://bucket"], "s3://bucket/key"), (["output": "s3:/bucket/a"], "'s3:/bucket/a'"),
        (["output": "s3://a@b:c/x"], "s3://bucket/key"), (["output": "s3://bucket/{stem}/../a"], "'..'"),
        (["output": "s3://{group}/\u{1}", "group": "g"], "control characters"),
        (["output": "s3://bucket/" + String(repeating: "x", count: 1100)], "more than 1024"),
        (["source": "s3://bucket/"], "s3://bucket/key"),
        (["source": "http://"], "has no host: give a URL as https://example.org/a.flac"),
        (["source": "https:///a.mp3"], "has no host: give a URL as https://example.org/a.flac"),
        (["source": "http://me:planted@/a?k"], "has no host: give a URL as https://example.org/a.flac"),
        (["source": "http://:8080/a"], "has no host: give a URL as https://example.org/a.flac"),
        (["source": "HTTP:// /a"], "has no host: give a URL as https://example.org/a.flac"),
        (["source": "sftp:///a"], "has no host: give a URL as https://example.org/a.flac"),
        (["format": "hls", "output": "https://h/a.m3u8?k=planted"], "takes one file"),
        (["chapters": "json", "output": "https://h/a.mp3"], "takes one file"),
        (["output_method": "POST"], "https://"), (["output": ""], "output"),
        (["colour": "red"], "colour"), (["loudness": "16"], "LUFS"), (["loudness": "-16", "gain": "1"], "exclusive"),
        (["gain": "loud"], "decibels"), (["true_peak": "1"], "dBTP"), (["channel_map": "FL,XX"], "FL,XX"),
        (["mix": "FL=0.5"], "one expression per"), (["mix": "FL=FL,FL=FR"], "one expression per"),
        (["resampler": "sox"], "soxr"),
        (["fade_in": "11:00"], "10:00"), (["trim_silence": "-60,"], "-60,0.5"), (["replay_gain": "album"], "track"),
        (["outputs": "[]"], "1 to 32"),
        (["passthrough": "always"], "auto, never or require"), (["callback": "g"], "https:// or http://"),
        (["callback": "https://u:p@"], "`https://`: it must begin"), (["overwrite": "g"], "replace, skip or fail"),
        (["overwrite": "skip", "output_method": "POST", "output": "https://h/a"], "POST"),
        (["group": "a b"], "1 to 64"), (["limit_key": ""], "1 to 128"),
        (["traceparent": "ff-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"], "00-4bf92f"),
        (["sample_format": "s20"], "s20"), (["output": "a\u{0}b"], "output"),
    ]

    @Test(arguments: wrongValues)
    func `a wrong value is refused and named`(fields: [String: String], named: String) throws {
        let failure = #expect(throws: Failure.self) { try Self.spec(fields) }
        #expect(failure?.code == .invalidRequest)
        #expect(failure?.retryable == false)
        #expect(failure?.message.contains(named) == true, "\(failure?.message ?? "")")
    }

    @Test func `all wrong fields are found at once, and the message names the first`() throws {
        let failure = try #require(
            throws: Failure.self,
            performing: {
                try Self.spec(
                    [
                        "format": "flac", "bit_rate": "96k", "channels": "none", "compression_level": "13", "gain": "1",
                        "loudness": "-16", "sample_rate": "0", "output": "../x", "colour": "red", "start": "2",
                        "end": "1",
                        "priority": "urgent", "callback": "g",
                    ])
            })
        let fields = try #require(failure.fields)
        #expect(
            Set(fields.map(\.field)) == [
                "bit_rate", "channels", "compression_level", "gain", "sample_rate", "output", "colour", "end",
                "priority",
                "callback",
            ])
        #expect(failure.message == fields[0].message + " (and 9 more)" && failure.code == .invalidRequest)
        #expect(fields.allSatisfy { $0.message.contains($0.field) }, "\(fields)")
    }

    @Test func `each output's wrong fields are found, and a wrong field of the job once`() throws {
        let outputs = #"[{"bit_rate":"x"},{"format":"flac","quality":1},{"start":"1"},{"format":"flak"}]"#
        let failure = #expect(throws: Failure.self) { try Self.spec(["outputs": outputs, "channels": "0"]) }
        #expect(
            failure?.fields?.map(\.field) == [
                "channels", "outputs[0].bit_rate", "outputs[2].start", "outputs[1].quality", "outputs[3].format",
            ], "\(failure?.fields ?? [])")
    }

    @Test func `a failure has at most 16 wrong fields in 4 KiB`() throws {
        let many = Dictionary(uniqueKeysWithValues: (0..<40).map { ("field\($0)", "") })
        let failure = #expect(throws: Failure.self) { try Self.spec(many) }
        #expect(failure?.fields?.count == 16 && failure?.message.hasSuffix(" (and 39 more)") == true)
        let names = Dictionary(uniqueKeysWithValues: (0..<40).map { (String(repeating: "x", count: 90) + "\($0)", "") })
        let fields = try #require(#expect(throws: Failure.self) { try Self.spec(names) }?.fields)
        let bytes = try JSONEncoder().encode(fields).count
        #expect(bytes <= 4096 && bytes > 3000)
    }

    @Test(arguments: [
        ["start": "5:00", "end": "4:00"], ["start": "10", "end": "10"], ["duration": "0"], ["start": "5:60"],
        ["end": "-1"], ["end": "1", "duration": "1"], ["start": "1/0"], ["start": ""], ["end": "1e3"],
        ["start": "9007199254740991/1"],
        ["start": "9007199254740991/999999937", "duration": "9007199254740991/1000000000"],
    ])
    func `a wrong time range has a separate error code`(fields: [String: String]) throws {
        #expect(throws: Failure.self) { try Self.spec(fields) }
        #expect(#expect(throws: Failure.self) { try Self.spec(fields) }?.code == .invalidTimeRange)
    }

    @Test func `a job that is too large is refused`() {
        #expect(throws: Failure.self) { try Self.spec(["output": String(repeating: "a", count: 16_385)]) }
    }

    @Test func `the error about a wrong source keeps its secrets out`() throws {
        let failure = #expect(throws: Failure.self) { try Self.spec(["source": "gopher://me:hunter2@h/x?sig=abc"]) }
        #expect(failure?.message.contains("hunter2") == false)
        #expect(failure?.message.contains("abc") == false)
        let bare = #expect(throws: Failure.self) { try Self.spec(["source": "me:hunter2@h.org/x?sig=abc"]) }
        #expect(bare?.message.contains("h.org/x?…") == true)
        #expect(bare?.message.contains("hunter2") == false)
    }

    @Test func `each field is listed once`() {
        #expect(Set(JobField.all.map(\.name)).count == JobField.all.count)
        #expect(JobField.named("sample_rate")?.flag == "sample-rate")
    }
}
