/// How a playlist of HTTP Live Streaming begins (RFC 8216 section 4.3.1.1).
package enum PlaylistMark {
    /// Bytes of a file that tell.
    package static let length = 10

    /// Whether a file with these first bytes is one; a byte order mark, which none should have, may stand in front.
    package static func begins(_ head: some Collection<UInt8>) -> Bool {
        let mark = Array("#EXTM3U".utf8)
        return head.starts(with: mark) || head.starts(with: [0xEF, 0xBB, 0xBF] + mark)
    }
}
