import Bytes
import Conversion
import Encoding
import FoundationEssentials
import Lifecycle
import MediaTypes

/// A file in memory, which one conversion writes and the next one reads.
final class MemoryFile: RandomAccessOutput, ByteSource {
    private(set) var bytes: [UInt8]

    init(_ bytes: [UInt8] = []) { self.bytes = bytes }

    convenience init(path: String) throws {
        self.init([UInt8](try Data(contentsOf: URL(filePath: path))))
    }

    var length: Int64 { Int64(bytes.count) }

    func clear() { bytes = [] }

    func write(_ piece: UnsafeRawBufferPointer, at offset: Int64) {
        let (start, end) = (Int(offset), Int(offset) + piece.count)
        if end > bytes.count { bytes += [UInt8](repeating: 0, count: end - bytes.count) }
        bytes.withUnsafeMutableBytes { $0[start..<end].copyBytes(from: piece) }
    }

    func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) -> Int {
        let count = max(min(buffer.count, bytes.count - Int(offset)), 0)
        // Callers may read beyond the end.
        guard count > 0 else { return 0 }
        bytes.withUnsafeBytes { buffer.copyBytes(from: $0[Int(offset)..<Int(offset) + count]) }
        return count
    }

    /// Converts the file; returns the result and the output file.
    func converted(
        to rendition: Rendition, start: MediaTime = .zero, end: MediaTime? = nil
    ) throws -> (result: ConversionResult, file: MemoryFile) {
        let file = MemoryFile()
        let result = try Converter.run(
            source: self, store: file, rendition: rendition, range: TimeRange(start: start, end: end),
            stop: CancellationFlag(), progress: { _ in })
        return (result, file)
    }

    /// The samples that respool's reader returns, interleaved.
    func samples() throws -> [Float] {
        let wave = try converted(to: Rendition(format: "wav", sampleFormat: .f32)).file.bytes
        guard let head = wave.firstRange(of: Array("data".utf8)) else { return [] }
        return wave.withUnsafeBytes { bytes in
            let size = bytes.loadUnaligned(fromByteOffset: head.upperBound, as: UInt32.self)
            let part = bytes[(head.upperBound + 4)..<(head.upperBound + 4 + Int(UInt32(littleEndian: size)))]
            return Array(unsafeUninitializedCapacity: part.count / 4) { samples, count in
                count = part.count / 4
                UnsafeMutableRawBufferPointer(samples).copyBytes(from: part.prefix(4 * count))
            }
        }
    }
}
