package import Bytes
package import Decoding
package import Encoding
package import Filters
package import Libav
package import Lifecycle
package import MediaTypes
import Tags

/// Writes an output as segments: first the segments, then the playlist of each variant, and last the master playlist.
package final class HLSWriter: RenditionWriter {
    private let segments: SegmentSettings
    private let path: SoundPath
    /// At least one.
    private let variants: [HLSVariant]
    /// Warnings about source tags that segments cannot carry.
    private let dropped: [Warning]

    /// Opens an encoder and a segment writer for each variant.
    package init(
        _ stores: any OutputStores, output: Int, _ rendition: Rendition, _ reader: borrowing AssetReader,
        _ metadata: Metadata, _ measurement: SoundMeasurement?, threads: ThreadBudget,
        stop: CancellationFlag
    ) throws(MediaError) {
        segments = rendition.segments
        let choices = try Self.settings(
            rendition, try rendition.sound.shape(of: reader.shape), reader.depth, expected: reader.expectedSeconds)
        let first = choices[0]
        path = try SoundPath(rendition.sound, reader.shape, reader.depth, first, measurement)
        let tags = TagWriter(
            metadata, rendition.tags, format: first.format, codec: first.codec, rate: first.shape.rate,
            sourceRate: reader.shape.rate)
        try tags.checkSize()
        dropped = tags.warnings
        let tag = TimedTag(tags.header.prefix)
        var variants: [HLSVariant] = []
        for settings in choices {
            variants.append(
                try HLSVariant(
                    stores, output: output, settings, rendition.segments, tag: tag, threads: threads, stop: stop))
        }
        self.variants = variants
    }

    /// The settings of each variant. They differ only in the bit rate.
    private static func settings(
        _ rendition: Rendition, _ shape: SampleShape, _ depth: SampleDepth, expected: Double?
    ) throws(MediaError) -> [EncodingSettings] {
        guard !rendition.segments.bitRates.isEmpty else {
            return [try EncodingSettings.resolve(rendition, shape, depth, expected: expected)]
        }
        var choices: [EncodingSettings] = []
        for rate in rendition.segments.bitRates {
            var variant = rendition
            variant.segments.bitRates = []
            variant.bitRate = rate
            choices.append(try EncodingSettings.resolve(variant, shape, depth, expected: expected))
        }
        for other in choices where !other.shape.equals(choices[0].shape) {
            throw MediaError(
                .invalidSettings, "choose settings",
                "bit_rates \(choices[0].bitRate!) and \(other.bitRate!) require different sample rates, "
                    + "\(choices[0].shape.rate) and \(other.shape.rate) Hz; give a sample_rate that supports all")
        }
        return choices
    }

    /// Filters decoded samples once, and encodes them in each variant.
    package func append(_ frame: borrowing Frame) throws(MediaError) {
        try path.append(frame) { (changed: borrowing Frame) throws(MediaError) in try encode(changed) }
    }

    private func encode(_ frame: borrowing Frame) throws(MediaError) {
        for variant in variants { try variant.encode(frame) }
    }

    /// Completes the last segments, then writes the playlists and the master playlist.
    package func finish() throws(MediaError) -> ConversionResult {
        try path.finish { (rest: borrowing Frame) throws(MediaError) in try encode(rest) }
        var playlists: [(playlist: MediaPlaylist, name: String)] = []
        for variant in variants { playlists.append(try variant.finish()) }
        let main = variants[0].store
        try main.beginMain()
        try main.append(MasterPlaylist.text(playlists, variants[0].settings.codec).utf8)
        _ = try main.end()
        return result
    }

    /// The result. Its bit rate is the sum of all variants.
    private var result: ConversionResult {
        let settings = variants[0].settings
        var effective = settings.effective.merging(path.effective) { $1 }
        effective["segment_duration"] = Setting(effective: segments.duration.description)
        effective["segment_format"] = Setting(effective: segments.container.rawValue)
        if !segments.bitRates.isEmpty {
            effective["bit_rate"] = nil
            let rates = segments.bitRates.map { String($0) }.joined(separator: ",")
            effective["bit_rates"] = Setting(requested: rates, effective: rates)
        }
        var result = ConversionResult(
            settings, samples: variants[0].samples, bytes: variants.reduce(0) { $0 + $1.store.length },
            gapless: variants[0].gapless, loudness: path.loudness, effective: effective,
            warnings: settings.warnings + path.warnings + dropped)
        let reports = variants.compactMap(\.report)
        if let first = reports.first { result.encoders = reports.dropFirst().reduce(first, +) }
        return result
    }
}
