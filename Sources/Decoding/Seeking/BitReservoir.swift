/// How far back frames of MPEG layer III reach for the data that earlier frames had room for (ISO 11172-3, 2.4.2.7).
package struct BitReservoir {
    /// The latest frames: bytes that each borrows from those before it, and bytes of data that it holds itself.
    private var frames: [(borrowed: Int, held: Int)] = []

    /// Frames before the one that is wanted whose sound runs over into it.
    private var overlap = 1

    /// More than any frame can reach back: 511 bytes, and frames of 24 bytes.
    private static let most = 48

    package init() {}

    /// Takes notice of the next frame.
    package mutating func append(_ frame: UnsafeBufferPointer<UInt8>) {
        guard frame.count > 40 || frame.count >= 24 else { return frames.append((0, 0)) }
        let isFirstVersion = frame[1] & 0x08 != 0
        let isMono = frame[3] & 0xC0 == 0xC0
        let body = 4 + (frame[1] & 1 == 0 ? 2 : 0)
        let side = isFirstVersion ? (isMono ? 17 : 32) : (isMono ? 9 : 17)
        // The second version has one granule a frame, and the overlap of two granules needs one frame more.
        overlap = isFirstVersion ? 1 : 2
        let borrowed =
            isFirstVersion ? Int(frame[body]) << 1 | Int(frame[body + 1] >> 7) : Int(frame[body])
        frames.append((borrowed, max(frame.count - body - side, 0)))
        if frames.count > 2 * Self.most { frames.removeFirst(Self.most) }
    }

    /// Frames that must be decoded before the latest one so that it sounds as it does behind all that came before;
    /// nothing if they are not all known.
    package var reach: Int? {
        var reach = min(overlap, frames.count - 1)
        for frame in max(frames.count - 1 - overlap, 0)..<frames.count {
            var missing = frames[frame].borrowed
            var from = frame
            while missing > 0, from > 0 {
                from -= 1
                missing -= frames[from].held
            }
            // What the very first frame lacks was never there.
            if missing > 0 && frames.count > Self.most { return nil }
            reach = max(reach, frames.count - 1 - from)
        }
        return reach
    }
}
