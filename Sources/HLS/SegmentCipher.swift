import Bytes
import CLibav
import Libav

/// Decrypts AES-128-CBC, as HLS encrypts segments (RFC 8216 section 5.2); owns an `AVAES`.
struct SegmentCipher: ~Copyable {
    private let context: OpaquePointer
    private var vector: [UInt8]

    /// Makes a cipher that decrypts from the start of a segment. Key and vector have 16 bytes.
    init(key: [UInt8], vector: [UInt8]) throws(MediaError) {
        precondition(key.count == 16 && vector.count == 16, "AES-128 requires keys and blocks of 16 bytes")
        guard let context = av_aes_alloc() else { throw .outOfMemory("decrypt the HLS segments") }
        self.context = context
        self.vector = vector
        av_aes_init(context, key, 128, 1)
    }

    deinit { av_free(UnsafeMutableRawPointer(context)) }

    /// Decrypts whole blocks in place. They continue the blocks of the last call.
    mutating func decrypt(_ bytes: inout [UInt8]) {
        bytes.withUnsafeMutableBufferPointer { buffer in
            vector.withUnsafeMutableBufferPointer { vector in
                av_aes_crypt(
                    context, buffer.baseAddress, buffer.baseAddress, CInt(buffer.count / 16), vector.baseAddress, 1)
            }
        }
    }

    /// The default initialization vector of a segment: its sequence number.
    static func vector(ofSequence number: Int64) -> [UInt8] {
        [UInt8](repeating: 0, count: 8) + (0..<8).map { UInt8(truncatingIfNeeded: number >> (56 - $0 * 8)) }
    }

    /// The length of the PKCS #7 padding at the end of decrypted bytes; `nil` if there is none, which means that the key or the
    /// data is wrong.
    static func padding(_ bytes: [UInt8]) -> Int? {
        guard let last = bytes.last, (1...16).contains(last), bytes.suffix(Int(last)).allSatisfy({ $0 == last }) else {
            return nil
        }
        return Int(last)
    }
}
