/// The signature of an HLS playlist (RFC 8216 section 4.3.1.1).
package enum PlaylistMark {
    /// The number of bytes of a file that are needed to check the signature.
    package static let length = 10

    /// Whether a file with these first bytes is a playlist; a byte order mark is accepted, although the RFC forbids it.
    package static func begins(_ head: some Collection<UInt8>) -> Bool {
        let mark = Array("#EXTM3U".utf8)
        return head.starts(with: mark) || head.starts(with: [0xEF, 0xBB, 0xBF] + mark)
    }
}
