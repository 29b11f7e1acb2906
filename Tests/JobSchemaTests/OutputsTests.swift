import JobSchema
import MediaTypes
import Testing
import Text

/// A job with several outputs.
@Suite struct OutputsTests {
    private static func spec(_ outputs: String, _ fields: [String: String] = [:]) throws -> JobSpec {
        try JobSpec(fields: ["source": "https://example.org/a.flac", "outputs": outputs].merging(fields) { $1 })
    }

    @Test func `each output gets the job's fields and its own`() throws {
        let spec = try Self.spec(
            #"[{"format":"mp3","bit_rate":"64k"},{"format":"opus","sample_rate":24000,"output":"a/b.opus"},{"channels":null}]"#,
            ["format": "mp3", "channels": "1", "start": "1", "atomic": "true", "passthrough": "never"])
        #expect(
            spec.plan.renditions == [
                Rendition(format: "mp3", bitRate: 64_000, channels: 1),
                Rendition(format: "opus", sampleRate: 24_000, channels: 1), Rendition(format: "mp3"),
            ])
        #expect(spec.destinations == [nil, "a/b.opus", nil])
        #expect(spec.plan.source.range.start == MediaTime(value: 1, timescale: 1))
        #expect(spec.plan.isAtomic)
        #expect((0..<3).map { spec.defaultName(ofOutput: $0, job: "7-0") } == ["7-0-0.mp3", "7-0-1.opus", "7-0-2.mp3"])
    }

    @Test func `a job without the list has one output`() throws {
        let spec = try JobSpec(fields: ["source": "https://example.org/a.flac", "format": "m4a", "output": "x.m4a"])
        #expect(spec.destinations == ["x.m4a"] && !spec.plan.isAtomic)
        #expect(spec.defaultName(ofOutput: 0, job: "7-0") == "7-0.m4a")
    }

    @Test(
        arguments: [
            ("https://example.org/a/Caf%C3%A9%20live.tar.flac?x=1#y", "{stem}.{ext}", "Caf\u{e9} live.tar.mp3"),
            ("s3://bucket/x/50%25 off.wav", "all/{name}", "all/50%25 off.wav"),
            ("file:///srv/what?.wav", "{name}", "what?.wav"), ("https://example.org/", "{stem}.{ext}", "7-0.mp3"),
            ("https://example.org/..%2F..%2Fetc%2Fpasswd", "x/{name}", "x/_._.._etc_passwd"),
            ("https://example.org/%2e%2e", "{name}/{id}", "_./7-0"),
            ("https://example.org/.respool-x", "{name}", "_respool-x"),
            ("https://example.org/a%00b%0Ac.wav", "{stem}", "a_b_c"),
            ("https://example.org/a.flac", "{group}/{n}/{id}.{ext}", "night/0/7-0.mp3"),
            ("https://example.org/a b.flac", "https://h/{name}?s", "https://h/a%20b.flac?s"),
            ("https://example.org/a&b=c.flac", "https://h/x?name={name}", "https://h/x?name=a%26b%3Dc.flac"),
            ("https://example.org/a.flac", "{ }{}{stem", "{ }{}{stem"),
            ("file:///srv/what%3F.wav", "file:///out/{name}", "file:///out/what%3F.wav"),
            ("https://example.org/No. 5 " + x(160) + ".wav", "{stem}", "No. 5 " + x(160)),
            // A file name has at most 255 bytes; what does not fit is replaced by the job's id.
            ("https://example.org/" + x(251) + ".wav", "{stem}.{ext}", x(251) + ".mp3"),
            ("https://example.org/" + x(252) + ".wav", "{stem}.{ext}", x(247) + "-7-0.mp3"),
            ("https://example.org/" + x(252) + ".wav", "{stem}/{stem}.{ext}", x(252) + "/" + x(247) + "-7-0.mp3"),
            ("https://example.org/" + x(200) + ".wav", "{stem}-{name}", x(123) + "-7-0-" + x(123) + "-7-0"),
            (
                "https://example.org/" + String(repeating: "\u{e9}", count: 200), "{name}",
                String(repeating: "\u{e9}", count: 125) + "-7-0"
            ),
            // The extension is not taken off what is left of a name that was cut.
            ("https://example.org/No. 5 " + x(260) + ".wav", "{stem}", "No. 5 " + x(245) + "-7-0"),
        ])
    func `the name of an output is made from its job`(source: String, output: String, place: String) throws {
        let spec = try JobSpec(fields: ["source": source, "format": "mp3", "output": output, "group": "night"])
        #expect(spec.location(ofOutput: 0, job: "7-0") == place)
    }

    /// A name of this many bytes.
    private static func x(_ count: Int) -> String { String(repeating: "x", count: count) }

    @Test(arguments: [
        (["format": "mp3", "chapters": "json"], ".chapters.json"), (["format": "hls"], "-0123456789-100000.m4s"),
    ])
    func `a name leaves room for the files beside an output`(fields: [String: String], longest: String) throws {
        let room = 255 - longest.utf8.count
        for (bytes, name) in [(room, Self.x(room)), (room + 1, Self.x(room - 4) + "-7-0")] {
            let given = ["source": "https://example.org/\(Self.x(bytes)).wav", "output": "{stem}.{ext}"]
            let spec = try JobSpec(fields: given.merging(fields) { $1 })
            let ends = fields["format"] == "hls" ? "m3u8" : "mp3"
            #expect(spec.location(ofOutput: 0, job: "7-0") == "\(name).\(ends)")
        }
    }

    @Test func `outputs whose filled-in names differ are accepted`() throws {
        let spec = try Self.spec(#"[{"format":"mp3"},{"format":"opus"}]"#, ["output": "{stem}.{ext}"])
        #expect((0..<2).map { spec.location(ofOutput: $0, job: "7-0") } == ["a.mp3", "a.opus"])
        #expect(throws: Failure.self) {
            try Self.spec(#"[{"format":"mp3"},{"format":"mp3"}]"#, ["output": "{stem}.{ext}"])
        }
    }

    @Test(arguments: [
        ("[{\"format\":\"mp3\"},{\"format\":\"xyz\"}]", "`outputs[1].format` is `xyz`"),
        ("[{\"format\":\"mp3\"},{}]", "`outputs[1].format` is missing"),
        ("[{\"format\":\"flac\",\"bit_rate\":\"64k\"}]", "`outputs[0]`: flac is lossless"),
        ("[{\"format\":\"mp3\",\"start\":\"1\"}]", "`outputs[0].start` applies to all outputs"),
        ("[{\"format\":\"mp3\",\"outputs\":\"[]\"}]", "`outputs[0].outputs` applies to all outputs"),
        ("[{\"format\":\"mp3\",\"colour\":\"red\"}]", "`outputs[0]`: unknown field `colour`"),
        ("[{\"format\":\"mp3\",\"output\":\"\"}]", "`outputs[0].output` is empty"),
        ("[{\"format\":\"mp3\",\"output\":\"gopher://b/k\"}]", "`outputs[0].output` has the scheme gopher"),
        (
            "[{\"format\":\"mp3\",\"output\":\"a/b.mp3\"},{\"format\":\"mp3\",\"output\":\"./a/c/../b.mp3\"}]",
            "`outputs[1].output` is `./a/c/../b.mp3`, which is also the location of `outputs[0]`"
        ),
        (
            "[{\"format\":\"mp3\",\"output\":\"/a/b c.mp3\"},{\"format\":\"mp3\",\"output\":\"FILE:///a/b%20c.mp3\"}]",
            "`outputs[1].output` is `FILE:///a/b%20c.mp3`, which is also the location of `outputs[0]`"
        ),
        ("[]", "1 to 32"), ("{}", "JSON list"), ("[1]", "JSON list"), ("[{]", "JSON list"), ("", "JSON list"),
        ("[{\"format\":\"mp3\",\"output\":\"https://h/a?X-Signature=planted\"]", "JSON list"),
    ])
    func `the output that is wrong is named`(outputs: String, named: String) throws {
        let failure = #expect(throws: Failure.self) { try Self.spec(outputs) }
        #expect(failure?.code == .invalidRequest)
        #expect(failure?.message.contains(named) == true, "\(failure?.message ?? "")")
        #expect(failure?.message.contains("planted") == false)
    }

    @Test(arguments: [
        (#"{"output":"a/t.mp3"},{"output":"a/./t.opus"}"#, nil),
        (
            #"{"output":"a/t.mp3"},{"output":"a/t.opus","overwrite":"skip"}"#,
            "chapters of `outputs[1]` and a file of `outputs[0]` have the same location `a/t.ch"
        ),
        (#"{"output":"a/t.mp3"},{"output":"b/t.opus","trim_silence":"-60"}"#, nil),
        (#"{"output":"s3://bkt/a//t.mp3"},{"output":"s3://bkt/a/t.opus","trim_silence":"-60"}"#, nil),
        (
            #"{"output":"s3://bkt/t.mp3"},{"output":"s3://bkt/t.opus","trim_silence":"-60"}"#,
            "location `s3://bkt/t.chapters"
        ),
        (#"{"output":"a/t.mp3","chapters":"webvtt"},{"output":"a/t.opus","trim_silence":"-60"}"#, nil),
        (
            #"{"output":"a/t.mp3"},{"output":"a/b/../t.opus","trim_silence":"-60"}"#,
            "chapters of `outputs[1]` and a file of `outputs[0]` have the same location `a/t.ch"
        ),
        (
            #"{"output":"file:///a/t.mp3"},{"output":"/a/t.opus","trim_silence":"-60"}"#,
            "chapters of `outputs[1]` and a file of `outputs[0]` have the same location `/a/t.ch"
        ),
        (#"{"output":"file:///../t.mp3"},{"output":"file:///../u.mp3","trim_silence":"-60"}"#, nil),
        (
            #"{"output":"a/t.mp3"},{"output":"a/t.chapters.json","format":"peaks","chapters":null}"#,
            "chapters of `outputs[0]`"
        ),
    ])
    func `two outputs cannot write their chapters into one file`(outputs: String, named: String?) throws {
        let fields = ["format": "mp3", "chapters": "json"]
        guard let named else {
            #expect(try Self.spec("[\(outputs)]", fields).destinations.count == 2)
            return
        }
        let failure = #expect(throws: Failure.self) { try Self.spec("[\(outputs)]", fields) }
        #expect(failure?.message.contains(named) == true, "\(failure?.message ?? "")")
    }

    @Test(arguments: ["../x.mp3", "a/../../x.mp3", "/../x.mp3"])
    func `an output outside every output root is refused at once`(output: String) throws {
        let fields = ["source": "https://example.org/a.flac", "format": "mp3", "output": output]
        let failure = #expect(throws: Failure.self) { try JobSpec(fields: fields) }
        #expect(failure?.code == .outputDenied)
        #expect(failure?.message == "the output '\(output)' is outside the output root; give a path below it")
    }

    @Test func `a job may have 32 outputs and not 33`() throws {
        func list(_ count: Int) -> String {
            "[" + Array(repeating: #"{"format":"mp3"}"#, count: count).joined(separator: ",") + "]"
        }
        #expect(try Self.spec(list(32)).plan.renditions.count == 32)
        #expect(#expect(throws: Failure.self) { try Self.spec(list(33)) }?.message.contains("33") == true)
    }

    @Test func `a Boolean that is neither true nor false is refused`() {
        let failure = #expect(throws: Failure.self) { try Self.spec(#"[{"format":"mp3"}]"#, ["atomic": "yes"]) }
        #expect(failure?.message.contains("`atomic` is `yes`") == true)
    }

    @Test func `thousands of part names are described briefly`() {
        let segments = (1...3600).map { index -> String in
            let number = String(index)
            return "talk-9f3a2b-" + String(repeating: "0", count: 5 - number.count) + number + ".m4s"
        }
        let names =
            ["talk.chapters.json", "talk-init.mp4"] + segments + ["talk-9.m3u8", "talk-10.m3u8", "talk-11.m3u8"]
        let runs = PartNames.runs(of: names)
        #expect(runs.count == 4)
        #expect(runs.flatMap { $0.names(atMost: 10_000) } == names)
        #expect(runs.flatMap { $0.names(atMost: 2) }.count == 6)
    }

    @Test func `part names of several variants in turn are described briefly`() {
        let names = (10_000..<13_600).flatMap { number in
            ["64k", "128k", "256k"].map { "talk-9f3a2b-\($0)-\(number).m4s" }
        }
        let runs = PartNames.runs(of: names)
        #expect(runs.count == 3)
        #expect(runs.flatMap { $0.names(atMost: 10_000) }.sorted() == names.sorted())
    }

    @Test(arguments: [
        "a\u{1b}[2Jb.mp3", "a\nb.mp3", "a\u{7f}.mp3", "a\u{9b}.mp3", "talk\u{202e}3pm.exe", "a\u{2028}b.mp3",
        "\u{2066}a.mp3", "s3://bucket/a\u{202e}b.mp3", "file:///srv/a%1bb.mp3", "sftp://h/a%C2%9Bb.mp3",
    ])
    func `an output name with control characters is refused`(output: String) throws {
        let failure = #expect(throws: Failure.self) {
            try JobSpec(fields: ["source": "https://x.org/a.flac", "format": "mp3", "output": output])
        }
        #expect(failure?.code == .invalidRequest)
        #expect(failure?.message.contains("control characters") == true, "\(failure?.message ?? "")")
        #expect(failure?.message.unicodeScalars.contains(where: \.isUnprintable) == false)
    }

    @Test(arguments: ["Größe/Ünïcode → 好.mp3", "שלום.mp3", "{stem}.mp3", "file:///srv/a%20b.mp3"])
    func `an output may be in any script`(output: String) throws {
        _ = try JobSpec(fields: ["source": "https://x.org/a.flac", "format": "mp3", "output": output])
    }
}
