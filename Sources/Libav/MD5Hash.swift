package import Bytes
import CLibav

/// Computes the MD5 hash of consecutive bytes; owns an `AVMD5`.
package struct MD5Hash: ~Copyable {
    private let context: OpaquePointer

    /// Starts a hash of no bytes.
    package init() throws(MediaError) {
        guard let context = av_md5_alloc() else { throw .outOfMemory("check the samples") }
        av_md5_init(context)
        self.context = context
    }

    deinit { av_free(UnsafeMutableRawPointer(context)) }

    /// Adds bytes to the hash.
    package borrowing func update(_ bytes: UnsafeRawBufferPointer) {
        av_md5_update(context, bytes.bindMemory(to: UInt8.self).baseAddress, bytes.count)
    }

    /// The hash of all bytes (`av_md5_final`). No bytes may be added afterwards.
    package borrowing func finish() -> [UInt8] {
        var hash = [UInt8](repeating: 0, count: 16)
        av_md5_final(context, &hash)
        return hash
    }
}
