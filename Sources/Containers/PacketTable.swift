package import Bytes

/// The header of a Core Audio file's packet table.
package struct PacketTable {
    /// The number of audible samples (`mNumberValidFrames`).
    package let audible: Int64
    /// Samples before the audible ones (`mPrimingFrames`).
    package let delay: Int64
    /// Samples after the audible ones (`mRemainderFrames`).
    let padding: Int64

    /// Reads the table's header; `nil` if there is none that is valid.
    package init?(_ source: any ByteSource) throws {
        let bytes = SourceBytes(source)
        guard let place = try Extent.coreAudioChunks(bytes).bodies["pakt"], let valid = try bytes.big(at: place + 8, 8),
            let before = try bytes.big(at: place + 16, 4), let after = try bytes.big(at: place + 20, 4),
            (1...Int64(1) << 55).contains(valid), before <= 1 << 20, after <= 1 << 20
        else { return nil }
        (audible, delay, padding) = (valid, before, after)
    }
}
