package import Bytes

/// The head of the packet table of a Core Audio file.
package struct PacketTable {
    /// Samples to be heard, and those before and behind them.
    package let audible: Int64
    package let delay: Int64
    let padding: Int64

    /// Reads it; nothing if the file has none that makes sense.
    package init?(_ source: any ByteSource) throws {
        let bytes = SourceBytes(source)
        guard let place = try Extent.coreAudioChunks(bytes).bodies["pakt"], let valid = try bytes.big(at: place + 8, 8),
            let before = try bytes.big(at: place + 16, 4), let after = try bytes.big(at: place + 20, 4),
            (1...Int64(1) << 55).contains(valid), before <= 1 << 20, after <= 1 << 20
        else { return nil }
        (audible, delay, padding) = (valid, before, after)
    }
}
