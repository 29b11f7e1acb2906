/// How the packets of several encoders become one stream. The audio is divided into segments, which they encode.
package struct EncoderJoint: Sendable {
    /// Where the packets of two encoders may be joined.
    package let rule: Rule
    /// The approximate length of a segment in seconds: a part of the expected length, within these limits.
    package let seconds: ClosedRange<Int>
    /// Starts of segments are planned at multiples of this number of frames.
    package let period: Int
    /// How much earlier than planned a segment may begin, so that the strongest attack of that time is in its lead, or that blocks of
    /// several sizes are those of the encoder before; `nil` if it begins where it was planned. The encoder takes planar floats.
    package let attackSearch: Span?
    /// What an encoder receives before the first packet that is kept of it, so that its state is close to that of an encoder that
    /// has received everything.
    package let lead: Span
    /// The start of the lead that is faded in, so that audio which begins does not sound like an attack; `nil` if it is not. The
    /// encoder takes planar floats.
    package let fade: Span?
    /// The start of the lead, for which the encoder gets a higher bit rate, so that its rate control gets to where it is behind minutes
    /// of sound; `nil` if there is none. Its packets are not kept.
    package let bitRateRaise: BitRateRaise?
    /// What an encoder receives after the place where the next one takes over.
    package let tail: Span
    /// The steps in which a joint is looked for while the encoder before receives the tail, so that it can end earlier; `nil` if
    /// it receives all of it.
    package let step: Span?
    /// Packets before the joint that the rule may change.
    package let reach: Int
    /// Whether the packets are those of one encoder.
    package let isExact: Bool
    /// Settings with which encoders agree. With others, one encoder encodes the whole stream.
    package let limits: Limits
    /// Whether an encoding that began with one thread may continue with several.
    package let startsLate: Bool

    /// Settings with which encoders agree.
    package struct Limits: Sendable {
        /// Bits a second of one or two channels.
        package var lowestBitRate: Int?
        /// Bits a second for each channel if there are more than two.
        package var lowestChannelBitRate: Int?
        /// Bit rates must be multiples of it.
        package var bitRateUnit = 1
        /// A value on the codec's scale.
        package var highestQuality: Double?
        package var maxChannels: Int?
    }

    /// A higher bit rate for the first frames.
    package struct BitRateRaise: Sendable {
        /// The number of frames, from the first one that an encoder receives.
        package let frames: Int
        package let factor: Double
    }

    /// Where the packets of two encoders may be joined.
    package enum Rule: Sendable {
        /// At the place that was planned: packets are independent of each other, or the encoders agree by then.
        case planned
        /// At the place that was planned. The headers of FLAC frames contain their number.
        case frameNumbers
        /// Where the bit reservoir of the first encoder holds as much as the second one uses (ISO 11172-3 section 2.4.3.4).
        case bitReservoir
        /// Where both encoders use the same window (ISO 14496-3 section 4.6.11).
        case windows
        /// Where both encoders made the same packets.
        case equalPackets
        /// Where both encoders made the same packets for a while, or at last packets of the same size.
        case convergedPackets
    }

    /// A length of audio.
    package enum Span: Sendable {
        case frames(Int), milliseconds(Int)

        /// The number of frames, rounded up.
        package func frames(rate: Int, frameSize: Int) -> Int {
            switch self {
            case .frames(let count): count
            case .milliseconds(let time): (time * rate + 1000 * frameSize - 1) / (1000 * frameSize)
            }
        }
    }

    init(
        _ rule: Rule, seconds: ClosedRange<Int> = 15...15, period: Int = 1, attackSearch: Span? = nil,
        lead: Span = .frames(0), fade: Span? = nil, bitRateRaise: BitRateRaise? = nil,
        tail: Span = .frames(0), step: Span? = nil, reach: Int = 0, isExact: Bool = false, limits: Limits = Limits(),
        startsLate: Bool = true
    ) {
        if let bitRateRaise, case .frames(let count) = lead { precondition(bitRateRaise.frames < count) }
        self.rule = rule
        (self.seconds, self.period, self.lead, self.tail, self.reach) = (seconds, period, lead, tail, reach)
        (self.attackSearch, self.fade, self.step, self.isExact) = (attackSearch, fade, step, isExact)
        (self.bitRateRaise, self.limits, self.startsLate) = (bitRateRaise, limits, startsLate)
    }

    /// Whether an encoder can continue with another segment, because frames are independent of each other.
    package var sharesEncoders: Bool {
        guard case .frames(0) = lead, case .frames(0) = tail else { return false }
        return isExact
    }

    /// The number of frames in a segment, which depends on the encoder and the source alone. `frameBytes` is the memory size of a
    /// frame's samples, and `expected` the length of the source in seconds, if it is known.
    package func frames(rate: Int, frameSize: Int, frameBytes: Int, expected: Double?) -> Int {
        let overlap = lead.frames(rate: rate, frameSize: frameSize) + tail.frames(rate: rate, frameSize: frameSize)
        func frames(_ seconds: Int, maxBytes: Int) -> Int {
            min(
                Span.milliseconds(1000 * seconds).frames(rate: rate, frameSize: frameSize),
                max(maxBytes / frameBytes, 1))
        }
        let least = frames(seconds.lowerBound, maxBytes: Self.maxBytes)
        let most = frames(seconds(expected: expected), maxBytes: Self.maxLongBytes)
        let frames = max(least, most, 2 * overlap, 1)
        return (frames + period - 1) / period * period
    }

    /// The length of a segment in seconds. A header may declare any length of the audio.
    private func seconds(expected: Double?) -> Int {
        let part = (expected ?? 0) / Self.parts
        if part >= Double(seconds.upperBound) { return seconds.upperBound }
        return part > Double(seconds.lowerBound) ? Int(part) : seconds.lowerBound
    }

    /// Long audio has about as many segments, which most numbers of threads share evenly.
    private static let parts = 24.0

    /// The maximum memory size of a segment's samples.
    private static let maxBytes = 24 << 20
    /// The same of a segment that is longer than the shortest one. Each thread has its share of memory.
    private static let maxLongBytes = 8 << 20
}
