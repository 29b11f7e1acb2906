import Bytes
import CLibav
import Libav

/// Padding at the end of an MP3, as its LAME tag tells; libav finds it only as long as it knows the time.
struct EndTrim {
    /// Samples, encoder delay among them, after which padding begins, and ends.
    let padding: Range<Int64>
    /// Where the next packet begins, encoder delay counted in.
    private var position: Int64
    private let samples: Int64

    /// The trim for packets of one length, the next of which begins at a sample that is counted with the encoder delay.
    init(padding: Range<Int64>, position: Int64, samples: Int) {
        self.padding = padding
        self.position = position
        self.samples = Int64(samples)
    }

    /// Marks the padding of the next packet for the decoder, as libav does where it knows the time.
    mutating func mark(_ packet: borrowing Packet) throws(MediaError) {
        let end = position + samples
        let isPadding = end >= padding.lowerBound && position < padding.upperBound
        // After a seek by bytes libav takes the packet for the first, and its delay for due.
        try packet.trim(skip: 0, discard: isPadding ? min(end - padding.lowerBound, samples) : 0)
        position = end
    }
}
