import Bytes

/// An ID3v2 tag at the start of a stream, in the forms in which players look for timed metadata.
struct TimedTag {
    /// The whole tag.
    let bytes: [UInt8]

    /// Takes the tag that was rendered; nothing if there is none.
    init?(_ bytes: [UInt8]) {
        guard !bytes.isEmpty else { return nil }
        self.bytes = bytes
    }

    /// The tag as an event message box, to stand before the first fragment (Carriage of ID3 Timed Metadata in CMAF).
    var eventMessage: [UInt8] {
        // Version 1, a time scale of 1, the presentation's first moment, no end that is known, number 0, no value.
        var body: [UInt8] = [1, 0, 0, 0] + bigEndian(1, 4) + bigEndian(0, 8)
        body += bigEndian(UInt64(UInt32.max), 4) + bigEndian(0, 4)
        body += Array("https://aomedia.org/emsg/ID3".utf8) + [0, 0] + bytes
        return bigEndian(UInt64(body.count + 8), 4) + Array("emsg".utf8) + body
    }
}
