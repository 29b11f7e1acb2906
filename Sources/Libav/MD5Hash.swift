package import Bytes
import CLibav

/// The MD5 of bytes that come one after the other; owns an `AVMD5`.
package struct MD5Hash: ~Copyable {
    private let context: OpaquePointer

    package init() throws(MediaError) {
        guard let context = av_md5_alloc() else { throw .outOfMemory("check the samples") }
        av_md5_init(context)
        self.context = context
    }

    deinit { av_free(UnsafeMutableRawPointer(context)) }

    /// Takes more bytes in.
    package borrowing func update(_ bytes: UnsafeRawBufferPointer) {
        av_md5_update(context, bytes.bindMemory(to: UInt8.self).baseAddress, bytes.count)
    }

    /// The hash of all bytes, after which none may follow. (av_md5_final)
    package borrowing func finish() -> [UInt8] {
        var hash = [UInt8](repeating: 0, count: 16)
        av_md5_final(context, &hash)
        return hash
    }
}
