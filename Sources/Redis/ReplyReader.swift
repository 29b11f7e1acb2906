import CHiredis
import Crypto

/// Decodes the bytes from a server into replies.
///
/// Owns a `redisReader`, which keeps incomplete replies.
struct ReplyReader: ~Copyable {
    private let reader: UnsafeMutablePointer<redisReader>
    private let buffer: UnsafeMutableRawBufferPointer

    init() throws(RedisError) {
        guard let reader = redisReaderCreate() else { throw .connection("out of memory") }
        // With the default, the reader would free its buffer after each long reply and allocate it again for the next.
        reader.pointee.maxbuf = 256 * 1024
        self.reader = reader
        buffer = .allocate(byteCount: 64 * 1024, alignment: 16)
    }

    deinit {
        redisReaderFree(reader)
        buffer.deallocate()
    }

    /// Feeds the bytes that the body writes to the buffer. The corresponding C function is `redisReaderFeed`.
    func receive(_ body: (UnsafeMutableRawBufferPointer) -> SocketResult) throws(RedisError) -> SocketResult {
        let transfer = body(buffer)
        guard case .bytes(let count) = transfer else { return transfer }
        let status = redisReaderFeed(reader, buffer.baseAddress!.assumingMemoryBound(to: CChar.self), count)
        guard status == REDIS_OK else { throw failure() }
        return transfer
    }

    /// The next reply; `nil` if it is not complete yet. The corresponding C function is `redisReaderGetReply`.
    func next() throws(RedisError) -> RedisValue? {
        var object: UnsafeMutableRawPointer?
        guard redisReaderGetReply(reader, &object) == REDIS_OK else { throw failure() }
        guard let object else { return nil }
        defer { freeReplyObject(object) }
        return try Self.value(object.assumingMemoryBound(to: redisReply.self))
    }

    private static func value(_ reply: UnsafePointer<redisReply>) throws(RedisError) -> RedisValue {
        switch reply.pointee.type {
        case REDIS_REPLY_NIL: return .null
        case REDIS_REPLY_INTEGER: return .integer(reply.pointee.integer)
        case REDIS_REPLY_STRING: return .bytes(Array(bytes(reply)))
        case REDIS_REPLY_STATUS: return .text(String(decoding: bytes(reply), as: UTF8.self))
        case REDIS_REPLY_ERROR: return .error(RedisServerError(line: String(decoding: bytes(reply), as: UTF8.self)))
        case REDIS_REPLY_ARRAY:
            var values: [RedisValue] = []
            values.reserveCapacity(reply.pointee.elements)
            for index in 0..<reply.pointee.elements { values.append(try value(reply.pointee.element[index]!)) }
            return .array(values)
        default: throw .unexpectedReply("a reply of type \(reply.pointee.type)")
        }
    }

    private static func bytes(_ reply: UnsafePointer<redisReply>) -> UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(start: reply.pointee.str, count: reply.pointee.len)
    }

    private func failure() -> RedisError {
        withUnsafeBytes(of: reader.pointee.errstr) { bytes in
            let reason = String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
            return .unexpectedReply("bytes that are not Redis protocol (\(reason))")
        }
    }
}
