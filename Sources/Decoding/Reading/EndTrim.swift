import Bytes
import CLibav
import Libav

/// The padding at the end of an MP3 file, from its LAME tag. libav only applies it if it knows the time.
struct EndTrim {
    /// The sample range of the padding, counted with the encoder delay.
    let padding: Range<Int64>
    /// The start of the next packet, counted with the encoder delay.
    private var position: Int64
    private let samples: Int64

    /// Makes a trim for packets of `samples` samples. `position` is the start of the next packet, counted with the encoder
    /// delay.
    init(padding: Range<Int64>, position: Int64, samples: Int) {
        self.padding = padding
        self.position = position
        self.samples = Int64(samples)
    }

    /// Marks the padding of the next packet for the decoder, as libav does if it knows the time.
    mutating func mark(_ packet: borrowing Packet) throws(MediaError) {
        let end = position + samples
        let isPadding = end >= padding.lowerBound && position < padding.upperBound
        // After a seek by bytes, libav takes the packet for the first one and marks it with the delay.
        if isPadding || !packet.hasNoSideData {
            try packet.trim(skip: 0, discard: isPadding ? min(end - padding.lowerBound, samples) : 0)
        }
        position = end
    }
}
