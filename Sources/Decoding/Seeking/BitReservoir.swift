/// Computes how far MPEG layer III frames refer back to data in earlier frames (ISO 11172-3, 2.4.2.7).
package struct BitReservoir {
    /// The latest frames: the bytes that each refers back to, and the bytes of main data that it contains.
    private var frames: [(borrowed: Int, held: Int)] = []

    /// The number of frames before the target whose synthesis overlaps it.
    private var overlap = 1

    /// More frames than a frame can refer back to: 511 bytes, with frames of at least 24 bytes.
    private static let maxFrames = 48

    /// Begins without a frame; `append` adds them in order.
    package init() {}

    /// Adds the next frame.
    package mutating func append(_ frame: UnsafeBufferPointer<UInt8>) {
        guard frame.count > 40 || frame.count >= 24 else { return frames.append((0, 0)) }
        let isFirstVersion = frame[1] & 0x08 != 0
        let isMono = frame[3] & 0xC0 == 0xC0
        let body = 4 + (frame[1] & 1 == 0 ? 2 : 0)
        let side = isFirstVersion ? (isMono ? 17 : 32) : (isMono ? 9 : 17)
        // MPEG-2 has one granule a frame, so the overlap of two granules needs one more frame.
        overlap = isFirstVersion ? 1 : 2
        let borrowed =
            isFirstVersion ? Int(frame[body]) << 1 | Int(frame[body + 1] >> 7) : Int(frame[body])
        frames.append((borrowed, max(frame.count - body - side, 0)))
        if frames.count > 2 * Self.maxFrames { frames.removeFirst(Self.maxFrames) }
    }

    /// The number of frames before the latest one that must be decoded to reproduce it exactly; `nil` if not all of them are
    /// known.
    package var reach: Int? {
        var reach = min(overlap, frames.count - 1)
        for frame in max(frames.count - 1 - overlap, 0)..<frames.count {
            var missing = frames[frame].borrowed
            var from = frame
            while missing > 0, from > 0 {
                from -= 1
                missing -= frames[from].held
            }
            // Data missing before the very first frame never existed.
            if missing > 0 && frames.count > Self.maxFrames { return nil }
            reach = max(reach, frames.count - 1 - from)
        }
        return reach
    }
}
