package import Bytes
import CLibav
import Glibc
import Libav

/// Computes the power spectrum of samples through a Hann window; owns an `AVTXContext`.
package struct FourierTransform: ~Copyable {
    /// The window's size in samples, a power of two.
    package let size: Int
    private let context: OpaquePointer
    private let transform: av_tx_fn
    private let window: [Float]
    private let input: UnsafeMutableBufferPointer<Float>
    private let output: UnsafeMutableBufferPointer<Float>

    private init(_ size: Int, owning context: OpaquePointer, _ transform: @escaping av_tx_fn) {
        self.size = size
        self.context = context
        self.transform = transform
        // The window's sum is half its size, and half of a sine's amplitude goes to the negative frequency.
        window = (0..<size).map { Float((1 - cos(2 * .pi * Double($0) / Double(size))) * 2 / Double(size)) }
        input = Self.floats(size)
        output = Self.floats(size + 2)
    }

    /// Allocates memory with the alignment and padding that libavutil's vector instructions require.
    private static func floats(_ count: Int) -> UnsafeMutableBufferPointer<Float> {
        let memory = UnsafeMutableRawPointer.allocate(byteCount: count * 4 + 64, alignment: 64)
        return UnsafeMutableBufferPointer(start: memory.bindMemory(to: Float.self, capacity: count), count: count)
    }

    deinit {
        var context: OpaquePointer? = context
        av_tx_uninit(&context)
        UnsafeMutableRawPointer(input.baseAddress!).deallocate()
        UnsafeMutableRawPointer(output.baseAddress!).deallocate()
    }

    /// Opens a transform of `size` samples, a power of two.
    package static func open(size: Int) throws(MediaError) -> FourierTransform {
        var context: OpaquePointer?
        var transform: av_tx_fn?
        var scale: Float = 1
        try check(
            av_tx_init(&context, &transform, AV_TX_FLOAT_RDFT, 0, CInt(size), &scale, 0), "prepare the spectrogram")
        return FourierTransform(size, owning: context!, transform!)
    }

    /// Raises each row to the maximum of its own power and the powers of the frequencies that fall into it. A full-scale sine
    /// has power 1.
    package borrowing func raise(_ rows: inout [Float], by samples: ArraySlice<Float>) {
        let start = samples.startIndex
        for index in 0..<size { input[index] = samples[start + index] * window[index] }
        transform(context, output.baseAddress!, input.baseAddress!, MemoryLayout<Float>.stride)
        let half = size / 2
        for row in rows.indices {
            let first = row * half / rows.count
            let end = max(first + 1, (row + 1) * half / rows.count)
            for bin in first..<end {
                let (real, imaginary) = (output[2 * bin], output[2 * bin + 1])
                let power = real * real + imaginary * imaginary
                if power > rows[row] { rows[row] = power }
            }
        }
    }
}
