import JobSchema
import MediaTypes
import Testing

@Suite struct PictureFieldTests {
    private func spec(_ fields: [String: String]) throws(Failure) -> JobSpec {
        try JobSpec(fields: ["source": "https://x.org/a.flac"].merging(fields) { $1 })
    }

    private func picture(_ fields: [String: String]) throws -> PictureSettings {
        try spec(fields).plan.renditions[0].picture
    }

    @Test func `the fields of a picture are read`() throws {
        let peaks = try picture([
            "format": "peaks", "bits": "8", "pixels_per_second": "20", "split_channels": "true", "peaks_format": "dat",
        ])
        #expect(peaks.bits == 8 && peaks.zoom == .perSecond(20) && peaks.splitsChannels == true && peaks.form == .dat)
        let png = try picture(["format": "png", "size": "640x100", "colors": "#102030,#ffFFff00"])
        #expect(png.size == PictureSize(width: 640, height: 100))
        #expect(png.foreground == PictureColor(red: 16, green: 32, blue: 48))
        #expect(png.background == PictureColor(red: 255, green: 255, blue: 255, alpha: 0))
        #expect(try picture(["format": "spectrogram", "dynamic_range": "60"]).dynamicRange == 60)
    }

    @Test func `the form of peaks is taken from the output's name, and sets the default name`() throws {
        #expect(try picture(["format": "peaks", "output": "a/b.dat"]).form == .dat)
        #expect(try picture(["format": "peaks", "output": "a/b.json"]).form == .json)
        let spec = try spec(["format": "peaks", "peaks_format": "dat"])
        #expect(spec.defaultName(ofOutput: 0, job: "j") == "j.dat")
        #expect(try self.spec(["format": "spectrogram"]).defaultName(ofOutput: 0, job: "j") == "j.png")
    }

    @Test(arguments: [
        ("png", "size", "0x100", "`size` is `0x100`: it must be width and height in pixels up to 10000x4000"),
        ("png", "size", "10001x100", "`size` is `10001x100`"),
        ("spectrogram", "size", "5000x100", "up to 4000x2000"),
        ("png", "size", "-5x100", "`size` is `-5x100`"),
        ("png", "colors", "red,blue", "`colors` is `red,blue`: it must be foreground and background"),
        ("png", "colors", "#12345+,#000000", "`colors` is"),
        ("png", "colors", "#123456", "`colors` is `#123456`"),
        ("png", "zoom", "256", "`zoom` requires the format peaks, and `format` is png"),
        ("mp3", "size", "10x10", "`size` requires the format png and spectrogram, and `format` is mp3"),
        ("peaks", "bits", "12", "`bits` is `12`: it must be 8 or 16"),
        ("peaks", "zoom", "0", "`zoom` is `0`"), ("peaks", "points", "4001", "`points` is `4001`"),
        ("png", "points", "100", "`points` requires the format peaks"),
        ("peaks", "peaks_format", "xml", "`peaks_format` is `xml`: it must be json or dat"),
        ("peaks", "split_channels", "maybe", "`split_channels` is `maybe`: it must be true or false"),
        ("peaks", "bit_rate", "128k", "does not support bit_rate"),
        ("peaks", "passthrough", "require", "passthrough is require"),
        ("spectrogram", "dynamic_range", "5", "`dynamic_range` is `5`: it must be decibels from 10 to 200"),
    ])
    func `a wrong picture field is named`(_ format: String, _ field: String, _ value: String, _ sentence: String) {
        let failure = #expect(throws: Failure.self) { try spec(["format": format, field: value]) }
        #expect(failure?.message.contains(sentence) == true, "\(failure?.message ?? "")")
    }
}
