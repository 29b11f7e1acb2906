import CLibav
import MediaTypes

/// Brings samples to the encoder's shape, and their number to exactly what the rates ask for.
struct SampleConverter: ~Copyable {
    /// What the last call made.
    let result: Frame
    private let input: SampleShape
    private let output: SampleShape
    private let resampler: Resampler?
    private var taken: Int64 = 0
    private var made: Int64 = 0

    private init(_ input: SampleShape, _ output: SampleShape, _ resampler: consuming Resampler?) throws(MediaError) {
        result = try Frame()
        self.input = input
        self.output = output
        self.resampler = resampler
    }

    /// Makes a converter; `bits` is how many of an integer sample are to count where that is fewer than memory holds.
    static func open(
        _ input: SampleShape, to output: SampleShape, bits: Int?, engine: ResamplerEngine = .swr
    ) throws(MediaError) -> SampleConverter {
        var resampler: Resampler?
        if !input.equals(output) || bits != nil {
            resampler = try Resampler.open(input, to: output, bits: bits, engine: engine)
        }
        return try SampleConverter(input, output, resampler)
    }

    /// Converts a frame into `result`; false if the frame already is what is wanted.
    mutating func convert(_ frame: borrowing Frame) throws(MediaError) -> Bool {
        switch resampler {
        case .none: return false
        case .some(let resampler):
            taken += Int64(frame.samples)
            try resampler.convert(frame, into: result)
            made += Int64(result.samples)
            return true
        }
    }

    /// Puts more of what is owed once the input has ended into `result`; false when nothing is.
    mutating func drain() throws(MediaError) -> Bool {
        switch resampler {
        case .none: return false
        case .some(let resampler):
            let owed = av_rescale_rnd(taken, Int64(output.rate), Int64(input.rate), AV_ROUND_UP) - made
            guard owed > 0 else { return false }
            try resampler.drain(into: result)
            if result.samples == 0 {
                try result.reserve(Int(min(owed, 4096)), output)
                result.silence(output)
            }
            result.keepFirst(Int(min(Int64(result.samples), owed)))
            made += Int64(result.samples)
            return true
        }
    }
}
