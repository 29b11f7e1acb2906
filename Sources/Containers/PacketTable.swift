package import Bytes
package import MediaTypes

/// The header of a Core Audio file's packet table. Its numbers count samples at the rate of the audio description.
package struct PacketTable {
    /// The length of the audible samples (`mNumberValidFrames`).
    package let audible: MediaTime
    /// The length of the samples before the audible ones (`mPrimingFrames`).
    package let delay: MediaTime

    /// Reads the table's header; `nil` if there is none that is valid.
    package init?(_ source: any ByteSource) throws {
        let bytes = SourceBytes(source)
        let chunks = try Extent.coreAudioChunks(bytes).bodies
        guard let place = chunks["pakt"], let valid = try bytes.big(at: place + 8, 8),
            let before = try bytes.big(at: place + 16, 4), let after = try bytes.big(at: place + 20, 4),
            (1...Int64(1) << 55).contains(valid), before <= 1 << 20, after <= 1 << 20,
            let description = chunks["desc"], let bits = try bytes.big(at: description, 8),
            case let rate = Double(bitPattern: UInt64(bitPattern: bits)), rate >= 1, rate < 1e9
        else { return nil }
        audible = MediaTime(value: valid, timescale: Int64(rate))
        delay = MediaTime(value: before, timescale: Int64(rate))
    }
}
