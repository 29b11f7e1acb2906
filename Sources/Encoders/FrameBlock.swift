import Bytes
import CLibav
import Libav

/// Consecutive frames of a stream in one piece of memory. Several encoders read it, and none changes it.
final class FrameBlock: @unchecked Sendable {
    /// The numbers of the frames.
    let numbers: Range<Int>
    /// The memory size of the samples.
    let bytes: Int
    fileprivate let form: BlockForm
    /// The first sample.
    private let time: Int64
    /// The samples of the last frame, which may be shorter than others.
    private let lastSamples: Int
    /// The samples, unless they are packed.
    fileprivate let frame: Frame
    /// The samples of one plane after another, as 16 bits.
    fileprivate let packed: [Int16]

    fileprivate init(
        _ numbers: Range<Int>, _ form: BlockForm, time: Int64, lastSamples: Int, frame: consuming Frame,
        packed: [Int16]
    ) {
        bytes = packed.isEmpty ? frame.bytes : 2 * packed.count
        (self.numbers, self.form, self.time, self.lastSamples) = (numbers, form, time, lastSamples)
        self.frame = frame
        self.packed = packed
    }

    /// The samples of a frame.
    fileprivate func samples(of number: Int) -> Int {
        number == numbers.upperBound - 1 ? lastSamples : form.frameSize
    }

    /// The first sample of a frame.
    fileprivate func time(of number: Int) -> Int64 { time + Int64((number - numbers.lowerBound) * form.frameSize) }

    /// Converts packed samples of frames back to floating point. `first` is the place of the first frame in the block.
    fileprivate func unpack(_ first: Int, _ count: Int, into room: borrowing Frame) {
        let values = packed.count / form.planes
        let start = first * form.strideValues
        packed.withUnsafeBufferPointer { packed in
            for plane in 0..<form.planes {
                let source = packed.baseAddress! + (plane * values + start)
                let target = room.floats(plane)
                for index in 0..<min(count * form.strideValues, values - start) {
                    target[index] = Float(source[index]) * (1 / 0x8000)
                }
            }
        }
    }
}

/// How frames lie in a block.
private struct BlockForm {
    let shape: SampleShape
    let frameSize: Int
    /// The samples from one frame to the next. Encoders rely on aligned samples.
    let stride: Int
    let planes: Int
    /// The values of a plane from one frame to the next.
    let strideValues: Int

    init(_ shape: SampleShape, frameSize: Int) {
        self.shape = shape
        self.frameSize = frameSize
        stride = (frameSize + 31) / 32 * 32
        planes = shape.isPlanar ? shape.channels : 1
        strideValues = shape.isPlanar ? stride : stride * shape.channels
    }
}

/// Collects the frames of the next block.
struct OpenBlock: ~Copyable {
    private let form: BlockForm
    private let capacity: Int
    private let isFloat: Bool
    private let room: Frame
    private var first = 0
    private var count = 0
    private var time: Int64 = 0
    private var lastSamples = 0

    /// `capacity` is the number of frames in a block.
    init(_ shape: SampleShape, frameSize: Int, capacity: Int) throws(MediaError) {
        let room = try Frame()
        form = BlockForm(shape, frameSize: frameSize)
        self.capacity = capacity
        isFloat = av_get_packed_sample_fmt(shape.format) == AV_SAMPLE_FMT_FLT
        self.room = room
    }

    var isEmpty: Bool { count == 0 }

    var isFull: Bool { count == capacity }

    /// Copies a frame.
    mutating func append(_ frame: borrowing Frame, number: Int) throws(MediaError) {
        if count == 0 {
            try room.reserve(capacity * form.stride, form.shape)
            (first, time) = (number, frame.timestamp ?? 0)
        }
        av_samples_copy(
            room.planes, frame.planes, CInt(count * form.stride), 0, CInt(frame.samples), CInt(form.shape.channels),
            form.shape.format)
        count += 1
        lastSamples = frame.samples
    }

    /// Takes the frames; `nil` if there are none.
    mutating func take() throws(MediaError) -> FrameBlock? {
        guard count > 0 else { return nil }
        let numbers = first..<first + count
        let packed = isFloat ? pack() : []
        let frame = try Frame()
        // Packed samples leave the memory for the next block.
        if packed.isEmpty { frame.take(room) }
        count = 0
        return FrameBlock(numbers, form, time: time, lastSamples: lastSamples, frame: frame, packed: packed)
    }

    /// Packs floating point that was made of 16 bits; returns nothing if a sample would change.
    private borrowing func pack() -> [Int16] {
        let used = (count - 1) * form.stride + lastSamples
        let values = form.shape.isPlanar ? used : used * form.shape.channels
        // Memory that is freed at once would divide the heap of sources that are never exact.
        guard Self.isExact(room.floats(0), min(values, 1024)) else { return [] }
        return [Int16](unsafeUninitializedCapacity: values * form.planes) { packed, count in
            count = 0
            for plane in 0..<form.planes {
                let (source, target) = (room.floats(plane), packed.baseAddress! + plane * values)
                for start in stride(from: 0, to: values, by: 1024) {
                    let length = min(1024, values - start)
                    guard Self.pack(source + start, target + start, length) else { return }
                }
            }
            count = values * form.planes
        }
    }

    /// Whether no sample would change.
    private static func isExact(_ source: UnsafePointer<Float>, _ count: Int) -> Bool {
        withUnsafeTemporaryAllocation(of: Int16.self, capacity: count) { pack(source, $0.baseAddress!, count) }
    }

    /// Returns whether all samples were exact.
    private static func pack(
        _ source: UnsafePointer<Float>, _ target: UnsafeMutablePointer<Int16>, _ count: Int
    ) -> Bool {
        var difference: UInt32 = 0
        for index in 0..<count {
            // The sum has the rounded sample in its lowest bits.
            let sum = source[index] * 0x8000 + 0xc0_0000
            let value = Int16(truncatingIfNeeded: sum.bitPattern)
            target[index] = value
            difference |= (Float(value) * (1 / 0x8000)).bitPattern ^ source[index].bitPattern
        }
        return difference == 0
    }
}

/// Reads the frames of blocks one by one.
struct BlockReader: ~Copyable {
    private let unpacked: Frame
    private let frame: Frame

    init() throws(MediaError) {
        let unpacked = try Frame()
        let frame = try Frame()
        self.unpacked = unpacked
        self.frame = frame
    }

    /// Passes on frames of a block. They refer to its samples, or to memory that is used again if nothing else refers to it.
    borrowing func read(_ block: FrameBlock, _ numbers: Range<Int>, _ body: FrameBody) throws(MediaError) {
        let form = block.form
        var first = numbers.lowerBound - block.numbers.lowerBound
        if block.packed.isEmpty {
            try frame.share(block.frame)
        } else {
            try unpacked.reserve(numbers.count * form.stride, form.shape)
            block.unpack(first, numbers.count, into: unpacked)
            try frame.share(unpacked)
            first = 0
        }
        defer { frame.clear() }
        let strideBytes = form.strideValues * form.shape.sampleBytes
        let planes = (0..<form.planes).map { frame.planes[$0]! }
        for (index, number) in numbers.enumerated() {
            for plane in planes.indices { frame.planes[plane] = planes[plane] + (first + index) * strideBytes }
            frame.pointer.pointee.nb_samples = CInt(block.samples(of: number))
            frame.pointer.pointee.pts = block.time(of: number)
            try body(frame)
        }
    }
}

/// Frames of a stream in their blocks.
struct FrameSpan {
    let blocks: [FrameBlock]
    let numbers: Range<Int>

    /// Passes on the frames one by one.
    func read(_ body: FrameBody) throws(MediaError) {
        let reader = try BlockReader()
        for block in blocks { try reader.read(block, block.numbers.clamped(to: numbers), body) }
    }
}
