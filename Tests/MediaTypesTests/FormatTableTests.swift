import Testing

@testable import MediaTypes

@Suite struct FormatTableTests {
    @Test func `a row has the codecs that its limits are for, and PCM formats only with PCM`() {
        for format in AudioFormat.all {
            #expect(AudioFormat.named(format.name)?.id == format.id)
            #expect(!format.codecs.isEmpty && Set(format.codecs).count == format.codecs.count, "\(format.name)")
            #expect(format.codecs.contains(AudioCodec.ID.pcm.rawValue) == !format.pcmFormats.isEmpty, "\(format.name)")
            #expect(format.limits.keys.allSatisfy { format.codecs.contains($0.rawValue) }, "\(format.name)")
            for codec in format.codecs.compactMap(AudioCodec.named) {
                #expect(format.sampleRates(of: codec)?.isEmpty != true, "\(codec.name) in \(format.name)")
                #expect(!format.channelCounts(of: codec).isEmpty, "\(codec.name) in \(format.name)")
            }
        }
        #expect(Set(AudioFormat.all.flatMap(\.codecs)) == Set(AudioCodec.ID.allCases.map(\.rawValue)))
    }

    @Test func `segments take the codecs of HLS, and those of MPEG-2 some of them`() throws {
        let format = try #require(AudioFormat.named("hls"))
        #expect(SegmentSettings.Container.fmp4.codecs == format.codecs)
        #expect(SegmentSettings.Container.mpegts.codecs == ["aac", "mp3", "ac3", "eac3"])
    }

    @Test func `padding is marked on packets of lossy codecs whose padding Matroska declares`() {
        for codec in AudioCodec.all where codec.kind != .lossy {
            #expect(codec.bitRateRule == .none && !codec.edges.areMarked && codec.edges.copied == .neither)
        }
        for codec in AudioCodec.all where codec.edges.areMarked {
            #expect([.lastInMatroska, .everywhere].contains(codec.edges.declared), "\(codec.name)")
        }
    }

    @Test(arguments: [
        ("aif", "aiff"), ("wave", "wav"), ("qt", "mov"), ("snd", "au"), ("dat", "peaks"), ("wav", "wav"),
        ("json", "peaks"), ("spx", "speex"), ("aac", "adts"), ("m4a", "m4a"),
    ])
    func `the extension of a file name selects the format`(ending: String, name: String) {
        #expect(AudioFormat.ofFile(extension: ending)?.name == name)
    }
}
