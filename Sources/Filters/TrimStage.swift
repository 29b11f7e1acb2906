import Bytes
import CLibav
import Libav
import MediaTypes

/// Removes the silence at both ends, which an analysis has found.
final class TrimStage: SoundStage {
    let output: SampleShape
    private let trim: SilenceTrim
    /// The samples that are kept; `nil` for all.
    private let kept: Range<Int64>?
    private let isMeasured: Bool
    private var position: Int64 = 0
    private let part: Frame

    init(_ trim: SilenceTrim, _ shape: SampleShape, _ measurement: SoundMeasurement?) throws(MediaError) {
        self.trim = trim
        output = shape
        kept = measurement?.sound
        isMeasured = measurement != nil
        part = try Frame()
    }

    func append(_ frame: borrowing Frame, _ body: FrameBody) throws(MediaError) {
        guard let kept else { return try body(frame) }
        let whole = position..<position + Int64(frame.samples)
        position = whole.upperBound
        let inside = whole.clamped(to: kept)
        guard !inside.isEmpty else { return }
        guard inside != whole else { return try body(frame) }
        try part.reserve(inside.count, output)
        av_samples_copy(
            part.planes, frame.planes, 0, CInt(inside.lowerBound - whole.lowerBound), CInt(inside.count),
            CInt(output.channels), output.format)
        try body(part)
    }

    var effective: [String: Setting] {
        let words = kept.map { "\($0.lowerBound)..<\($0.upperBound)" } ?? "everything"
        return ["trim_silence": Setting(requested: trim.description, effective: "samples \(words)")]
    }

    var warnings: [Warning] {
        guard isMeasured, kept == nil else { return [] }
        return [Warning(.allSilent, "the whole range is silent, so no silence was removed")]
    }
}
