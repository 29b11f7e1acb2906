/// Counts the packets that were sent to the decoder, and their samples as far as known.
struct FedPackets {
    /// The samples of the last packet; `nil` if unknown.
    private(set) var last: Int?
    private(set) var count: Int64 = 0
    /// The samples of all packets with a known number.
    private(set) var samples: Int64 = 0

    /// Counts another packet.
    mutating func add(samples length: Int?) {
        last = length
        count += 1
        samples += Int64(length ?? 0)
    }
}
