/// When the long blocks of an encoder of Vorbis begin.
///
/// Without an attack, they are at the same distance from each other, counted from where the encoder began. Each attack moves all
/// later ones by its short blocks. Encoders whose long blocks begin at other times make no equal packet until the next attack.
struct BlockGrid: Sendable {
    /// Samples from one long block to the next.
    let step: Int
    /// Samples from the first packet to a long block if there is no attack.
    private let longStart: Int

    /// Takes the sizes of blocks from the headers of a stream (Vorbis I section 4.2.2); `nil` if there is no such header.
    init?(headers: UnsafeBufferPointer<UInt8>) {
        // 1, and the name of the codec.
        let start: [UInt8] = [0x01, 0x76, 0x6f, 0x72, 0x62, 0x69, 0x73]
        let header = headers.indices.dropLast(28).first { headers[$0...].starts(with: start) }
        guard let header else { return nil }
        let sizes = headers[header + 28]
        let (short, long) = (1 << Int(sizes & 15), 1 << Int(sizes >> 4))
        step = long / 2
        longStart = short / 2 + (short + long) / 4
    }

    /// The samples by which long blocks are later than those of an encoder that began at the same time and has heard no attack.
    /// `times` are those of its packets from the first one; `nil` if there are not two long blocks in a row.
    func shift(_ times: [Int64]) -> Int? {
        let last = times.indices.dropFirst().last { times[$0] - times[$0 - 1] == step }
        guard let first = times.first, let last else { return nil }
        return (Int(times[last] - first) - longStart + step) % step
    }

    /// The last frame up to a given one from which an encoder has the same long blocks as one that began with another frame and is
    /// shifted; the given one if there is none.
    func aligned(_ frame: Int, to other: Int, shift: Int, frameSize: Int) -> Int {
        let samples = ((frame - other) * frameSize - shift) % step
        guard samples.isMultiple(of: frameSize) else { return frame }
        return frame - (samples < 0 ? samples + step : samples) / frameSize
    }
}

/// The times of the first packets of a segment.
struct EarlyPackets {
    /// The first frame of the segment.
    let start: Int
    /// The samples in them.
    let samples: Int
    private(set) var times: [Int64] = []

    init(start: Int, samples: Int = 0) { (self.start, self.samples) = (start, samples) }

    /// Whether all of them are known.
    var isComplete: Bool { samples == 0 || times.last.map { $0 - times[0] >= samples } ?? false }

    mutating func add(_ packet: EncodedPacket) {
        if !isComplete { times.append(packet.time) }
    }
}
