import Libav
import MediaTypes

/// Finds silence in planar floats.
struct SilenceScan {
    /// Samples scanned so far.
    private(set) var samples: Int64 = 0
    /// The first and the last sample that are not silent.
    private(set) var first: Int64?
    private(set) var last: Int64?
    /// Silences of at least the minimum length, if they are kept.
    private(set) var silences: [Range<Int64>] = []
    private let threshold: Float
    private let minimum: Int64
    private let keepsAll: Bool
    /// Silences that exceeded the list's capacity.
    private(set) var leftOut = 0
    /// The capacity of the list, because the probe's report is sent in one message.
    private static let maxSilences = 500

    init(_ trim: SilenceTrim, rate: Int, keepsAll: Bool = false) {
        threshold = Float(factor(decibels: trim.threshold))
        minimum = max(trim.minimum.sampleIndex(rate: rate), 1)
        self.keepsAll = keepsAll
    }

    mutating func append(_ frame: borrowing Frame, channels: Int) {
        for index in 0..<frame.samples {
            var isSilent = true
            for channel in 0..<channels where abs(frame.floats(channel)[index]) > threshold { isSilent = false }
            guard !isSilent else { continue }
            let place = samples + Int64(index)
            end(at: place)
            if first == nil { first = place }
            last = place
        }
        samples += Int64(frame.samples)
    }

    /// Ends the last silence at the end of the audio.
    mutating func finish() { end(at: samples) }

    private mutating func end(at place: Int64) {
        let start = last.map { $0 + 1 } ?? 0
        guard keepsAll, place - start >= minimum else { return }
        if silences.count < Self.maxSilences { silences.append(start..<place) } else { leftOut += 1 }
    }

    /// The range without silence of at least the minimum length at both ends; `nil` if all of it is silent.
    var sound: Range<Int64>? {
        guard let first, let last else { return nil }
        return (first >= minimum ? first : 0)..<(samples - last - 1 >= minimum ? last + 1 : samples)
    }
}
