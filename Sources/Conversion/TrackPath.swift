import Bytes
import Decoding
import Encoding
import Filters
import Libav
import MediaTypes

/// Processes one track's samples from the decoder into a file of several tracks.
final class TrackPath {
    /// The number among the source's audio tracks, from 1.
    let number: Int
    let settings: EncodingSettings
    private let sound: AudioFilterChain?
    private var writer: AssetWriter
    private let inputRate: Int
    private var taken: Int64 = 0

    init(
        _ number: Int, _ rendition: Rendition, _ reader: borrowing AssetReader, _ label: TrackLabel,
        _ file: MuxedFile
    ) throws(MediaError) {
        self.number = number
        inputRate = reader.shape.rate
        settings = try EncodingSettings.resolve(rendition, try rendition.sound.shape(of: reader.shape), reader.depth)
        sound = try AudioFilterChain.open(rendition.sound, reader.shape, reader.depth, settings, nil)
        writer = try AssetWriter.add(
            to: file, settings, input: sound?.output ?? reader.shape, depth: sound?.depth ?? reader.depth, label: label)
    }

    /// Seconds of the range that were processed so far.
    var seconds: Double { Double(taken) / Double(inputRate) }

    func append(_ frame: borrowing Frame) throws(MediaError) {
        taken += Int64(frame.samples)
        guard let sound else { return try writer.append(frame) }
        try sound.append(frame) { (changed: borrowing Frame) throws(MediaError) in try writer.append(changed) }
    }

    /// Ends the track, but not the file.
    func finish() throws(MediaError) {
        try sound?.finish { (rest: borrowing Frame) throws(MediaError) in try writer.append(rest) }
        try writer.finish()
    }

    /// Samples of each channel in the file, at the output's rate.
    var samples: Int64 { writer.written }

    var check: OutputCheck { OutputCheck(settings, samples: samples, written: writer.tally) }

    var gapless: Gapless { writer.padding.gapless(settings, packets: writer.tally.count, samples: samples) }

    /// The requested and the effective settings, by job field name.
    var effective: [String: Setting] {
        settings.effective.merging(sound?.effective ?? [:]) { $1 }.merging(writer.effective) { $1 }
    }

    var warnings: [Warning] {
        (settings.warnings + writer.warnings + (sound?.warnings ?? [])).map { $0.of(track: number) }
    }
}

extension Warning {
    /// The same warning with the track's number.
    func of(track number: Int) -> Warning {
        var warning = self
        warning.message = "track \(number): \(message)"
        return warning
    }
}
