package import Bytes
package import Libav
package import Lifecycle
package import MediaTypes

/// Encodes a stream with one encoder, or in segments on several threads. The packets have the same number and the same times.
package final class ParallelEncoder {
    /// The first encoder, whose parameters are those of all.
    private let first: SegmentEncoder
    private let pool: SegmentPool?

    /// Opens the first encoder; others are opened only if the codec, the settings and the threads permit segments.
    package init(
        _ settings: EncodingSettings, globalHeader: Bool, threads: ThreadBudget, stop: CancellationFlag
    ) throws(MediaError) {
        first = SegmentEncoder(try Encoder.open(settings, globalHeader: globalHeader), start: 0)
        pool = try SegmentPool(first, settings, globalHeader: globalHeader, threads: threads, stop: stop)
    }

    /// libav's context of the first encoder: its parameters and its delay.
    package var encoder: Encoder { _read { yield first.encoder } }

    /// The required samples of each channel in every frame except the last; `nil` if any number is accepted.
    package var frameSize: Int? { first.encoder.frameSize }

    /// How the stream was encoded so far; `nil` if there can be only one encoder.
    package var report: SegmentReport? { pool?.report }

    /// Takes a frame with its timestamp.
    package func send(_ frame: borrowing Frame) throws(MediaError) {
        guard let pool else { return try first.encoder.send(frame) }
        try pool.send(frame)
    }

    /// Signals the end of the samples.
    package func sendEnd() throws(MediaError) {
        guard let pool else { return try first.encoder.sendEnd() }
        try pool.sendEnd()
    }

    /// Receives an encoded packet; returns `false` if more frames are needed or the stream has ended.
    package func receive(into packet: borrowing Packet) throws(MediaError) -> Bool {
        guard let pool else { return try first.encoder.receive(into: packet) }
        return try pool.receive(into: packet)
    }
}
