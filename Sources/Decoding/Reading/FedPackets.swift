/// The packets of a track that were handed to its decoder, as far as their lengths can be told.
struct FedPackets {
    /// Samples of the last one, if they can be told.
    private(set) var last: Int?
    private(set) var count: Int64 = 0
    /// The samples of those that can be told.
    private(set) var samples: Int64 = 0

    /// Counts one more.
    mutating func add(samples length: Int?) {
        last = length
        count += 1
        samples += Int64(length ?? 0)
    }
}
