import Bytes
import CZlib
import Encoding
import Libav
import MediaTypes

/// Writes a PNG image of at most 256 colors (RFC 2083) row by row.
final class PixelFile {
    private let file: AppendedFile
    private let deflater: Deflater

    init(_ canvas: PictureCanvas, _ palette: [PictureColor]) throws(MediaError) {
        file = canvas.file
        deflater = try Deflater.open()
        try file.append([0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A])
        // 8 bits a pixel, indexed color, deflate, adaptive filtering, not interlaced.
        try chunk("IHDR", Self.bytes(canvas.size.width) + Self.bytes(canvas.size.height) + [8, 3, 0, 0, 0])
        try chunk("PLTE", palette.flatMap { [$0.red, $0.green, $0.blue] })
        if palette.contains(where: { $0.alpha < 255 }) { try chunk("tRNS", palette.map(\.alpha)) }
    }

    /// Appends the next row from the top, as indexes into the palette.
    func append(row: [UInt8]) throws(MediaError) {
        // Each row begins with its filter type. None is best for indexed colors.
        try deflater.deflate([0] + row, isLast: false) { (part: [UInt8]) throws(MediaError) in
            try chunk("IDAT", part)
        }
    }

    func finish() throws(MediaError) {
        try deflater.deflate([], isLast: true) { (part: [UInt8]) throws(MediaError) in try chunk("IDAT", part) }
        try chunk("IEND", [])
    }

    private func chunk(_ type: String, _ content: [UInt8]) throws(MediaError) {
        let body = Array(type.utf8) + content
        try file.append(Self.bytes(content.count) + body + Self.bytes(Int(crc32(0, body, uInt(body.count)))))
    }

    private static func bytes(_ value: Int) -> [UInt8] {
        withUnsafeBytes(of: UInt32(truncatingIfNeeded: value).bigEndian) { Array($0) }
    }
}

/// Compresses bytes; owns a `z_stream`.
struct Deflater: ~Copyable {
    private let stream: UnsafeMutablePointer<z_stream>
    private static let block = 1 << 15

    private init(owning stream: UnsafeMutablePointer<z_stream>) { self.stream = stream }

    deinit {
        deflateEnd(stream)
        stream.deallocate()
    }

    static func open() throws(MediaError) -> Deflater {
        let stream = UnsafeMutablePointer<z_stream>.allocate(capacity: 1)
        stream.initialize(to: z_stream())
        guard deflateInit_(stream, 6, ZLIB_VERSION, CInt(MemoryLayout<z_stream>.size)) == Z_OK else {
            stream.deallocate()
            throw .outOfMemory("draw the picture")
        }
        return Deflater(owning: stream)
    }

    /// Compresses bytes and passes full blocks to the body; after the last bytes, everything that remains.
    borrowing func deflate(
        _ bytes: [UInt8], isLast: Bool, _ body: ([UInt8]) throws(MediaError) -> Void
    ) throws(MediaError) {
        var rest = bytes[...]
        while true {
            var taken = 0
            let part = [UInt8](unsafeUninitializedCapacity: Self.block) { packed, count in
                var input = Array(rest)
                input.withUnsafeMutableBufferPointer { input in
                    stream.pointee.next_in = input.baseAddress
                    stream.pointee.avail_in = uInt(input.count)
                    stream.pointee.next_out = packed.baseAddress
                    stream.pointee.avail_out = uInt(Self.block)
                    _ = CZlib.deflate(stream, isLast ? Z_FINISH : Z_NO_FLUSH)
                    taken = input.count - Int(stream.pointee.avail_in)
                }
                count = Self.block - Int(stream.pointee.avail_out)
            }
            rest = rest.dropFirst(taken)
            if !part.isEmpty { try body(part) }
            // A block that is not full means that zlib has no more output for now.
            if part.count < Self.block { return }
        }
    }
}
