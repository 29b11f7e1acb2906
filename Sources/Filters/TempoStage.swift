package import Bytes
import CRubberBand
package import Libav
package import MediaTypes

/// Changes the tempo of planar floats without their pitch, and returns exactly the number of samples that the tempo requires;
/// owns a `RubberBandState`.
package final class TempoStage: SoundStage {
    package let output: SampleShape
    private let state: RubberBandState
    private let tempo: Tempo
    private let result: Frame
    private let silence: Frame
    /// Samples of the engine's delay that are still to be dropped from the start of its output.
    private var late: Int
    private var taken: Int64 = 0
    private var given: Int64 = 0

    /// Samples that the engine receives at once.
    private static let portion = 1024
    /// The rates in Hz that the engine supports.
    private static let rates = 8000...192_000
    private static let operation = "change the tempo"

    /// Opens an engine for planar floats. Throws if it lacks their sample rate.
    package init(_ tempo: Tempo, _ shape: SampleShape) throws(MediaError) {
        guard Self.rates.contains(shape.rate) else {
            throw MediaError(
                .invalidSettings, Self.operation,
                "tempo supports sample rates of \(Self.rates.lowerBound) to \(Self.rates.upperBound) Hz, and the source's is \(shape.rate) Hz"
            )
        }
        result = try Frame()
        silence = try Frame()
        let options =
            RubberBandOptionProcessRealTime.rawValue | RubberBandOptionEngineFiner.rawValue
            | RubberBandOptionThreadingNever.rawValue
        guard
            let state = rubberband_new(
                UInt32(shape.rate), UInt32(shape.channels), RubberBandOptions(options), tempo.stretch, 1)
        else { throw .outOfMemory(Self.operation) }
        self.state = state
        self.tempo = tempo
        output = shape
        rubberband_set_max_process_size(state, UInt32(Self.portion))
        late = Int(rubberband_get_start_delay(state))
        // Silence before the first sample centres it in the engine's first window.
        var pad = Int(rubberband_get_preferred_start_pad(state))
        while pad > 0 {
            let count = min(pad, Self.portion)
            try feedSilence(count)
            pad -= count
        }
    }

    deinit { rubberband_delete(state) }

    /// Passes the samples that are ready to the body, which may change them in place.
    package func append(_ frame: borrowing Frame, _ body: FrameBody) throws(MediaError) {
        var start = 0
        while start < frame.samples {
            let count = min(Self.portion, frame.samples - start)
            feed(frame, start, count)
            taken += Int64(count)
            start += count
            try give(body)
        }
    }

    /// Flushes the remaining samples.
    package func finish(_ body: FrameBody) throws(MediaError) {
        let total = tempo.samples(taken)
        var idle = 0
        while given < total {
            let before = given
            try feedSilence(Self.portion)
            try give(body)
            idle = given == before ? idle + 1 : 0
            guard idle < 1000 else {
                throw MediaError(.internal, Self.operation, "the tempo could not be changed: samples are missing")
            }
        }
    }

    private func feedSilence(_ count: Int) throws(MediaError) {
        try silence.reserve(count, output)
        silence.silence(output)
        feed(silence, 0, count)
    }

    private func feed(_ frame: borrowing Frame, _ start: Int, _ count: Int) {
        let planes = (0..<output.channels).map { UnsafePointer(frame.floats($0) + start) as UnsafePointer<Float>? }
        rubberband_process(state, planes, UInt32(count), 0)
    }

    private func give(_ body: FrameBody) throws(MediaError) {
        while true {
            let ready = Int64(rubberband_available(state)) - Int64(late)
            let dropped = late
            guard ready > 0 else { return }
            let count = Int(min(ready, tempo.samples(taken) - given))
            guard count > 0 else { return }
            try result.reserve(dropped + count, output)
            let planes = (0..<output.channels).map { result.floats($0) as UnsafeMutablePointer<Float>? }
            let received = Int(rubberband_retrieve(state, planes, UInt32(dropped + count)))
            guard received == dropped + count else {
                throw MediaError(.internal, Self.operation, "the tempo could not be changed: samples are missing")
            }
            late = 0
            if dropped > 0 { try result.dropFirst(dropped, output) }
            given += Int64(count)
            try body(result)
        }
    }
}
