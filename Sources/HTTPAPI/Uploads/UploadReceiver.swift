import Glibc
import HTTPServer
import Lifecycle
import Synchronization

/// Appends the body of one request to an upload.
final class UploadReceiver: BodyReceiver {
    private let folder: UploadFolder
    private let owner: String
    private let basePath: String
    private let purpose: Purpose
    /// The length of the body, if the request says it.
    private let bodyBytes: Int64?
    private let state = Mutex(State())

    /// What the request is for.
    enum Purpose: Sendable {
        /// Creates an upload of that length, with its first bytes.
        case create(filename: String?, length: Int64)
        /// Creates an upload from the body alone.
        case whole(filename: String?)
        /// Appends to an upload from that offset on.
        case append(id: String, offset: Int64)
    }

    private struct State {
        var id = ""
        var file: UploadFile?
        var offset: Int64 = 0
        var length: Int64?
        var filename: String?
    }

    init(_ folder: UploadFolder, _ request: APIRequest, _ purpose: Purpose) {
        self.folder = folder
        owner = request.token.name
        basePath = request.context.basePath
        self.purpose = purpose
        bodyBytes = request.http.header("content-length").flatMap { Int64($0) }
    }

    func begin() throws(Problem) {
        let problem = state.withLock { state -> Problem? in
            do throws(Problem) { try begin(&state) } catch { return error }
            return nil
        }
        if let problem { throw problem }
    }

    private func begin(_ state: inout State) throws(Problem) {
        switch purpose {
        case .create(let filename, let length):
            guard length <= folder.maxBytes else { throw tooLarge }
            (state.filename, state.length) = (filename, length)
        case .whole(let filename): state.filename = filename
        case .append(let id, let offset):
            let (upload, file) = try folder.append(to: id, owner: owner)
            guard upload.offset == offset else {
                var problem = Problem(409, "wrong_offset", "the upload has \(upload.offset) bytes, and not \(offset)")
                problem.headers = [("Upload-Offset", "\(upload.offset)")]
                throw problem
            }
            guard !upload.isComplete || bodyBytes == 0 else {
                throw Problem(409, "complete_upload", "the upload has all its \(upload.offset) bytes already")
            }
            (state.id, state.offset, state.length) = (id, offset, upload.record.length)
            state.filename = upload.record.filename
            state.file = file
        }
        guard state.offset + (bodyBytes ?? 0) <= state.length ?? folder.maxBytes else { throw tooLarge }
        guard state.id.isEmpty else { return }
        let (id, file) = try folder.create(
            UploadRecord(owner: owner, filename: state.filename, length: state.length))
        state.id = id
        state.file = file
    }

    func write(_ bytes: UnsafeRawBufferPointer) throws(Problem) {
        let problem = state.withLock { state -> Problem? in
            do throws(Problem) { try write(bytes, &state) } catch {
                discard(&state)
                return error
            }
            return nil
        }
        if let problem { throw problem }
    }

    private func write(_ bytes: UnsafeRawBufferPointer, _ state: inout State) throws(Problem) {
        guard let number = state.file?.number else { return }
        guard state.offset + Int64(bytes.count) <= state.length ?? folder.maxBytes else { throw tooLarge }
        var done = 0
        while done < bytes.count {
            let count = pwrite(number, bytes.baseAddress! + done, bytes.count - done, off_t(state.offset))
            guard count >= 0 || errno == EINTR else { throw UploadFolder.problem(.last) }
            done += max(count, 0)
            state.offset += Int64(max(count, 0))
        }
    }

    /// Removes a new upload, whose id the client does not have, and lets others append to one that is kept.
    private func discard(_ state: inout State) {
        if case .append = purpose {} else { folder.remove(state.id) }
        state.file = nil
    }

    func end(isComplete: Bool) throws(Problem) -> Reply {
        let result = state.withLock { state -> Result<Reply, Problem> in
            do throws(Problem) { return .success(try end(isComplete, &state)) } catch {
                discard(&state)
                return .failure(error)
            }
        }
        return try result.get()
    }

    private func end(_ isComplete: Bool, _ state: inout State) throws(Problem) -> Reply {
        guard isComplete else { throw Problem(400, "cut_off", "the connection was lost before the end of the body") }
        if case .whole = purpose {
            guard state.offset > 0 else {
                throw Problem(400, "empty_body", "the body is empty: send the bytes of the file")
            }
        }
        guard let number = state.file?.number, fsync(number) == 0 else { throw UploadFolder.problem(.last) }
        if case .whole = purpose {
            let record = UploadRecord(owner: owner, filename: state.filename, length: state.offset)
            try folder.write(record, of: state.id)
        }
        let upload = try folder.find(state.id, owner: owner)
        // The next request may append.
        state.file = nil
        var reply: Reply
        if case .append = purpose {
            reply = Reply(status: 204, contentType: "", body: [])
        } else {
            reply = Reply(UploadReport(upload), status: 201)
            reply.headers.append(("Location", "\(basePath)/v1/uploads/\(state.id)"))
        }
        reply.headers += Route.uploadHeaders(upload)
        reply.subjects = [state.id]
        return reply
    }

    private var tooLarge: Problem {
        if case .append = purpose {
            return Problem(413, "too_large", "the upload has fewer bytes than the body brings")
        }
        return Problem(
            413, "too_large", "the file has more than \(folder.maxBytes) bytes, or more than it was said to have")
    }
}
