import COpenSSL
import Glibc
package import Lifecycle
import Text

/// The SHA-256 of a file, computed in steps. The corresponding C type is `EVP_MD_CTX`.
package struct Digest: ~Copyable {
    private let context: OpaquePointer
    /// The number of bytes that were hashed.
    package private(set) var position: Int64 = 0
    private static let step = 256 << 10

    private init(owning context: OpaquePointer) { self.context = context }

    deinit { EVP_MD_CTX_free(context) }

    /// Creates the digest of an empty message, to which bytes can be added.
    package static func create() -> Digest {
        guard let context = EVP_MD_CTX_new() else { fatalError("OpenSSL: out of memory for a digest") }
        EVP_DigestInit_ex(context, EVP_sha256(), nil)
        return Digest(owning: context)
    }

    /// Hashes up to 256 KiB more from the current position; returns false at the end of the file.
    package mutating func read(_ file: CInt) throws(Errno) -> Bool { try read(file, from: 0, to: .max) { _, _ in } }

    /// Hashes up to 256 KiB more, but not past `end`; the body gets the hashed bytes and their offset.
    package mutating func read(
        _ file: CInt, to end: Int64, _ body: (UnsafeRawBufferPointer, Int64) throws(Errno) -> Void
    ) throws(Errno) -> Bool {
        try read(file, from: 0, to: end, body)
    }

    /// The same for a part of the file.
    private mutating func read(
        _ file: CInt, from start: Int64, to end: Int64, _ body: (UnsafeRawBufferPointer, Int64) throws(Errno) -> Void
    ) throws(Errno) -> Bool {
        let offset = off_t(start + position)
        let length = Int(min(Int64(Self.step), end - start - position))
        let context = context
        let count = try withUnsafeTemporaryAllocation(byteCount: Self.step, alignment: 64) {
            (buffer) throws(Errno) -> Int in
            var count: Int
            repeat { count = pread(file, buffer.baseAddress, length, offset) } while count < 0 && errno == EINTR
            guard count >= 0 else { throw .last }
            EVP_DigestUpdate(context, buffer.baseAddress, count)
            try body(UnsafeRawBufferPointer(rebasing: buffer[..<count]), Int64(offset))
            return count
        }
        self.position += Int64(count)
        return count > 0
    }

    /// The digest in lowercase hexadecimal; no more bytes can be added.
    package consuming func finish() -> String {
        var bytes = [UInt8](repeating: 0, count: 32)
        EVP_DigestFinal_ex(context, &bytes, nil)
        return bytes.hexadecimal
    }

    /// The digest of a part of a file.
    package static func ofPart(_ range: Range<Int64>, of file: CInt) throws(Errno) -> String {
        var digest = Digest.create()
        while try digest.read(file, from: range.lowerBound, to: range.upperBound, { _, _ in }) {}
        return digest.finish()
    }

    /// The digest of some bytes.
    package static func of(_ bytes: [UInt8]) -> String {
        let digest = Digest.create()
        EVP_DigestUpdate(digest.context, bytes, bytes.count)
        return digest.finish()
    }

    /// The first half of a text's digest, which is short and still distinguishes texts.
    package static func half(of text: String) -> UInt128 {
        var bytes = [UInt8](repeating: 0, count: 32)
        var text = text
        text.withUTF8 { _ = EVP_Digest($0.baseAddress, $0.count, &bytes, nil, EVP_sha256(), nil) }
        return bytes.withUnsafeBytes { $0.loadUnaligned(as: UInt128.self) }
    }

    /// The digest of a whole file, and its length.
    package static func ofFile(_ file: CInt) throws(Errno) -> (sha256: String, bytes: Int64) {
        var digest = Digest.create()
        while try digest.read(file) {}
        let bytes = digest.position
        return (digest.finish(), bytes)
    }
}
