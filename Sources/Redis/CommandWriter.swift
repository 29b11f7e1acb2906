import CHiredis
import Crypto

/// Commands in wire format that have not been sent yet.
struct CommandWriter: ~Copyable {
    private var buffer: [UInt8] = []
    private var sent = 0

    var isEmpty: Bool { sent == buffer.count }

    /// Appends the command in the format of the Redis protocol. The corresponding C function is
    /// `redisFormatCommandArgv`.
    mutating func append(_ command: RedisCommand) throws(RedisError) {
        var target: UnsafeMutablePointer<CChar>?
        let length = command.bytes.withUnsafeBytes { bytes in
            withUnsafeTemporaryAllocation(of: UnsafePointer<CChar>?.self, capacity: command.lengths.count) { pointers in
                // An empty argument needs a pointer too, although it is not dereferenced.
                var next = bytes.baseAddress?.assumingMemoryBound(to: CChar.self)
                for (index, length) in command.lengths.enumerated() {
                    pointers.initializeElement(at: index, to: next)
                    next = next.map { $0 + length }
                }
                return redisFormatCommandArgv(
                    &target, CInt(command.lengths.count), pointers.baseAddress, command.lengths)
            }
        }
        guard length > 0, let target else { throw .connection("out of memory") }
        defer { redisFreeCommand(target) }
        buffer.append(contentsOf: UnsafeRawBufferPointer(start: target, count: Int(length)))
    }

    /// Passes the unsent bytes to the body, which returns the result of sending them.
    mutating func send(_ body: (UnsafeRawBufferPointer) -> SocketResult) -> SocketResult {
        let start = sent
        let transfer = buffer.withUnsafeBytes { body(UnsafeRawBufferPointer(rebasing: $0[start...])) }
        if case .bytes(let count) = transfer { sent += count }
        if isEmpty { reset() }
        return transfer
    }

    private mutating func reset() {
        sent = 0
        // Frees the memory of a long pipeline, because later commands are usually short.
        buffer.removeAll(keepingCapacity: buffer.capacity <= 1 << 20)
    }
}
