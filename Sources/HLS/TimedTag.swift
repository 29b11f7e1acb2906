import Bytes

/// An ID3v2 tag at the start of a stream, in the forms that players accept as timed metadata.
struct TimedTag {
    /// The whole tag.
    let bytes: [UInt8]

    /// Makes a timed tag of a rendered tag; `nil` if it is empty.
    init?(_ bytes: [UInt8]) {
        guard !bytes.isEmpty else { return nil }
        self.bytes = bytes
    }

    /// The tag as an event message box before the first fragment (Carriage of ID3 Timed Metadata in CMAF).
    var eventMessage: [UInt8] {
        // Version 1, time scale 1, the presentation's start, unknown duration, ID 0, empty value.
        var body: [UInt8] = [1, 0, 0, 0] + bigEndian(1, 4) + bigEndian(0, 8)
        body += bigEndian(UInt64(UInt32.max), 4) + bigEndian(0, 4)
        body += Array("https://aomedia.org/emsg/ID3".utf8) + [0, 0] + bytes
        return bigEndian(UInt64(body.count + 8), 4) + Array("emsg".utf8) + body
    }
}
