import Crypto
import Glibc
import JobSchema
import Lifecycle

/// The method, the headers and the body of a request to a store or server of outputs.
package struct StoreMessage: Sendable {
    /// The method of HTTP.
    package var method: String
    /// Header lines in addition to those of the target.
    package var headers: [String]
    /// What is sent.
    package var body: StoreBody
    /// What to do on an FTP or SFTP server, which has no methods.
    package var work: FileServerWork?
    /// Seconds until the first byte of the response, if this differs from the policy's timeout.
    package var firstByteTimeout: Double?

    package init(
        method: String = "", headers: [String] = [], body: StoreBody = .none, work: FileServerWork? = nil,
        firstByteTimeout: Double? = nil
    ) {
        self.method = method
        self.headers = headers
        self.body = body
        self.work = work
        self.firstByteTimeout = firstByteTimeout
    }
}

/// What one request does on an FTP or SFTP server, in the folder of the output.
package enum FileServerWork: Sendable {
    /// Reads the first bytes of the output.
    case look
    /// Sends the body to a file, if a name is given, and then gives commands.
    case change(upload: String?, [FileCommand])
}

/// A command for files in one folder of an FTP or SFTP server.
package struct FileCommand: Sendable {
    /// What is done with the file.
    package enum Action: Sendable {
        /// Asks for the size, which is compared with that of the body.
        case measure
        case rename(to: String)
        case remove
    }

    let action: Action
    let name: String
    /// Whether the next command is given even if this one is refused.
    let mayFail: Bool

    package init(action: Action, name: String, mayFail: Bool = false) {
        self.action = action
        self.name = name
        self.mayFail = mayFail
    }
}

/// The body of a request.
package enum StoreBody: Sendable {
    case none
    case bytes([UInt8])
    case file(FileBody)

    /// The number of bytes.
    package var length: Int64 {
        switch self {
        case .none: 0
        case .bytes(let bytes): Int64(bytes.count)
        case .file(let file): file.length
        }
    }

    /// The SHA-256 with which a store verifies the received body.
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

/// A range of a file to send. The caller owns the descriptor and keeps it open.
package struct FileBody: Sendable {
    /// The descriptor, borrowed.
    package let number: CInt
    /// The offset of the first byte.
    package let start: Int64
    /// The number of bytes.
    package let length: Int64
    /// Bytes sent so far.
    var position: Int64 = 0

    package init(number: CInt, start: Int64, length: Int64) {
        self.number = number
        self.start = start
        self.length = length
    }

    /// Reads the next bytes; `nil` if the file cannot be read.
    mutating func read(into buffer: UnsafeMutableRawBufferPointer) -> Int? {
        let wanted = Int(min(Int64(buffer.count), length - position))
        guard wanted > 0 else { return 0 }
        let count = pread(number, buffer.baseAddress, wanted, off_t(start + position))
        // The file must not end before the announced length.
        guard count > 0 else { return nil }
        position += Int64(count)
        return count
    }
}
