package import Libav

/// Packs samples as files do for their MD5: interleaved, little-endian, in whole bytes.
package struct SamplePacking {
    let channels: Int
    let isPlanar: Bool
    private let bits: Int
    private let isUnsigned: Bool

    /// `bits` counts those of a sample in the file; each sample takes whole bytes.
    package init(channels: Int, isPlanar: Bool, bits: Int, isUnsigned: Bool = false) {
        (self.channels, self.isPlanar) = (channels, isPlanar)
        (self.bits, self.isUnsigned) = (bits, isUnsigned)
    }

    /// Passes on a frame's samples, which libav has shifted to 16 or 32 bits.
    package func bytes(of frame: borrowing Frame, room: inout [UInt8], _ body: (UnsafeRawBufferPointer) -> Void) {
        let count = frame.samples * channels
        let width = (bits + 7) / 8
        if !isPlanar, bits == 16 || bits == 32 {
            return body(UnsafeRawBufferPointer(start: frame.planes[0], count: count * width))
        }
        if room.count < count * width + 4 { room = [UInt8](repeating: 0, count: count * width + 4) }
        room.withUnsafeMutableBytes { room in
            if isPlanar {
                for channel in 0..<channels {
                    pack(frame, channel, step: width * channels, from: width * channel, into: room)
                }
            } else {
                pack(frame, 0, count: count, step: width, from: 0, into: room)
            }
            body(UnsafeRawBufferPointer(rebasing: room[..<(count * width)]))
        }
    }

    private func pack(
        _ frame: borrowing Frame, _ plane: Int, count: Int? = nil, step: Int, from start: Int,
        into room: UnsafeMutableRawBufferPointer
    ) {
        let samples = UnsafeRawBufferPointer(
            start: frame.planes[plane], count: (count ?? frame.samples) * (bits <= 16 ? 2 : 4))
        if bits <= 16 {
            pack(samples.bindMemory(to: Int16.self), shift: Int16(16 - bits), step: step, from: start, into: room)
        } else {
            pack(samples.bindMemory(to: Int32.self), shift: Int32(32 - bits), step: step, from: start, into: room)
        }
    }

    private func pack<Sample: FixedWidthInteger>(
        _ samples: UnsafeBufferPointer<Sample>, shift: Sample, step: Int, from start: Int,
        into room: UnsafeMutableRawBufferPointer
    ) {
        let width = (bits + 7) / 8
        let middle: Int32 = isUnsigned ? 128 : 0
        var place = start
        if step == width {
            // Each sample is stored as four bytes. The next sample overwrites the excess.
            for sample in samples {
                let value = (Int32(truncatingIfNeeded: sample >> shift) &+ middle).littleEndian
                room.storeBytes(of: value, toByteOffset: place, as: Int32.self)
                place += step
            }
            return
        }
        for sample in samples {
            let value = Int32(truncatingIfNeeded: sample >> shift) &+ middle
            switch width {
            case 1: room.storeBytes(of: UInt8(truncatingIfNeeded: value), toByteOffset: place, as: UInt8.self)
            case 4: room.storeBytes(of: value.littleEndian, toByteOffset: place, as: Int32.self)
            default:
                room.storeBytes(of: Int16(truncatingIfNeeded: value).littleEndian, toByteOffset: place, as: Int16.self)
                if width == 3 {
                    room.storeBytes(of: Int8(truncatingIfNeeded: value >> 16), toByteOffset: place + 2, as: Int8.self)
                }
            }
            place += step
        }
    }
}
