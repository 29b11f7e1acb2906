import Crypto
import Glibc
import JobSchema
import Lifecycle

/// The method, the headers and the body of a request to a store or server of outputs.
struct StoreMessage: Sendable {
    var method = ""
    var headers: [String] = []
    var body = StoreBody.none
    /// What to do on an FTP or SFTP server, which has no methods.
    var work: FileServerWork?
    /// Seconds until the first byte of the response, if this differs from the policy's timeout.
    var firstByteTimeout: Double?
}

/// What one request does on an FTP or SFTP server, in the folder of the output.
enum FileServerWork: Sendable {
    /// Reads the first bytes of the output.
    case look
    /// Sends the body to a file, if a name is given, and then gives commands.
    case change(upload: String?, [FileCommand])
}

/// A command for files in one folder of an FTP or SFTP server.
struct FileCommand: Sendable {
    enum Action: Sendable {
        /// Asks for the size, which is compared with that of the body.
        case measure
        case rename(to: String)
        case remove
    }

    let action: Action
    let name: String
    /// Whether the next command is given even if this one is refused.
    var mayFail = false
}

/// The names of an output on an FTP or SFTP server. Those beside its own are unique to the upload, because a worker whose lease
/// has expired may still be sending.
struct FileServerNames {
    let own: String
    private let suffix = String(UInt64.random(in: 0 ... .max), radix: 16)
    /// The name of the file until it is published.
    var staged: String { Destination.stagedPrefix + suffix }
    /// The name of the file that it has replaced, until nothing can revert that.
    var kept: String { Destination.keptPrefix + suffix }

    /// Gives the file its own name, and replaces an old one.
    func replacement(by name: String, overSFTP: Bool) -> [FileCommand] {
        let rename = FileCommand(action: .rename(to: own), name: name)
        // Many servers of SFTP refuse to rename a file over an existing one (draft-ietf-secsh-filexfer-02, section 6.5).
        return overSFTP ? [FileCommand(action: .remove, name: own, mayFail: true), rename] : [rename]
    }
}

/// The body of a request.
enum StoreBody: Sendable {
    case none
    case bytes([UInt8])
    case file(FileBody)

    /// The number of bytes.
    var length: Int64 {
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
struct FileBody: Sendable {
    let number: CInt
    let start: Int64
    let length: Int64
    /// Bytes sent so far.
    var position: Int64 = 0

    init(number: CInt, start: Int64, length: Int64) {
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
