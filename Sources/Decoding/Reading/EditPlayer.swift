import Bytes
import Demuxing
import Libav

/// Plays the parts of a track's edit list from its decoded samples.
final class EditPlayer {
    private let parts: [MediaPart]
    private var index = 0
    /// Samples of the current part that were not returned yet.
    private var left: Int64
    /// Decoded samples that were not returned yet, and the place of the first one in the media.
    private let held: Frame
    private var position: Int64 = 0
    private var shape: SampleShape?
    private var rewinds = 0

    /// Each return decodes the media again from its start. A few bytes of a header could ask for thousands.
    private static let maxRewinds = 64
    /// Samples of silence that are returned at once.
    private static let piece: Int64 = 8192

    init(_ parts: [MediaPart]) throws(MediaError) {
        self.parts = parts
        left = parts.first?.count ?? 0
        held = try Frame()
    }

    /// The result of a request for samples.
    enum Answer { case samples, needsSamples, rewind, end }

    /// Takes the next decoded samples, once all earlier ones were returned.
    func add(_ frame: borrowing Frame) throws(MediaError) {
        shape = try frame.shape
        held.take(frame)
    }

    /// Returns the next samples of the presentation.
    func next(into frame: borrowing Frame) throws(MediaError) -> Answer {
        while index < parts.count {
            guard left > 0 else {
                advance()
                continue
            }
            switch parts[index] {
            case .silence:
                guard let shape else { return .needsSamples }
                let count = min(left, Self.piece)
                frame.clear()
                try frame.reserve(Int(count), shape)
                frame.silence(shape)
                frame.isLost = false
                left -= count
                return .samples
            case .media(let start, let count):
                let wanted = start + count - left
                if wanted < position { return .rewind }
                try drop(wanted - position)
                guard held.samples > 0 else { return .needsSamples }
                let taken = min(left, Int64(held.samples))
                try frame.share(held)
                frame.keepFirst(Int(taken))
                try drop(taken)
                left -= taken
                return .samples
            }
        }
        return .end
    }

    /// Ends the current part where the media ends.
    func endMedia() { left = 0 }

    /// Continues from the start of the media.
    func rewind() throws(MediaError) {
        rewinds += 1
        guard rewinds <= Self.maxRewinds else {
            throw MediaError(
                .unsupportedFormat, "read the source",
                "the source's edit list goes back more than \(Self.maxRewinds) times")
        }
        held.keepFirst(0)
        position = 0
    }

    private func advance() {
        index += 1
        left = index < parts.count ? parts[index].count : 0
    }

    private func drop(_ count: Int64) throws(MediaError) {
        guard count > 0, held.samples > 0 else { return }
        let isLost = held.isLost
        position += try held.drop(atMost: count)
        held.isLost = isLost
    }
}
