import Crypto
import Glibc
import JobSchema
import Lifecycle

/// What a request that changes something says.
struct StoreMessage: Sendable {
    var method: String
    var headers: [String] = []
    var body = StoreBody.none
    /// Seconds that the server may take before it says anything, where that is longer than usual.
    var firstByteTimeout: Double?
}

/// The body of such a request.
enum StoreBody: Sendable {
    case none
    case bytes([UInt8])
    case file(FileBody)

    /// The SHA-256 by which a store checks that it got what was sent.
    func sum() throws(Failure) -> String {
        switch self {
        case .none: return Digest.of([])
        case .bytes(let bytes): return Digest.of(bytes)
        case .file(let file):
            do { return try Digest.ofPart(file.start..<file.start + file.length, of: file.number) } catch {
                throw Failure(.outputFailed, "the staged output cannot be read: \(error)")
            }
        }
    }
}

/// A part of a file that is sent; the file is somebody else's, who keeps it open.
struct FileBody: Sendable {
    let number: CInt
    let start: Int64
    let length: Int64
    /// How much of it is sent.
    var position: Int64 = 0

    init(number: CInt, start: Int64, length: Int64) {
        self.number = number
        self.start = start
        self.length = length
    }

    /// Reads the next bytes; nothing if the file cannot be read.
    mutating func read(into buffer: UnsafeMutableRawBufferPointer) -> Int? {
        let wanted = Int(min(Int64(buffer.count), length - position))
        guard wanted > 0 else { return 0 }
        let count = pread(number, buffer.baseAddress, wanted, off_t(start + position))
        // A file that is shorter than it was is no end of the body either.
        guard count > 0 else { return nil }
        position += Int64(count)
        return count
    }
}
