import JobSchema

/// The source of a job that may be an upload of the request's token.
struct UploadedSource {
    private let request: APIRequest

    /// What begins a source that is an upload.
    static let scheme = "upload:"

    init(_ request: APIRequest) { self.request = request }

    /// The URL that a worker reads; of an upload, that of its file. The time of the upload starts anew.
    func url(_ source: String, at pointer: String) async throws(Problem) -> String {
        guard source.hasPrefix(Self.scheme) else { return source }
        let id = String(source.dropFirst(Self.scheme.count))
        func wrong(_ message: String) -> Problem {
            .wrong([.init(pointer, message)])
        }
        guard let folder = request.context.uploads else {
            throw wrong("`source` is an upload, and this server takes none: start it with RESPOOL_UPLOAD_DIR")
        }
        let owner = request.token.name
        let found: Upload? = try await withBlocking { () throws(Problem) in
            do throws(Problem) {
                let upload = try folder.find(id, owner: owner)
                // The last bytes that a request still appends may not be on the disk.
                guard upload.isComplete, try folder.touch(id) else { return upload.isComplete ? nil : upload }
                return upload
            } catch {
                guard error.status == 404 else { throw error }
                return nil
            }
        }
        guard let found else {
            throw wrong("`source` is upload:\(FieldText.shown(id)): there is no such upload, or it has expired")
        }
        guard found.isComplete else {
            throw Problem(
                409, "incomplete_upload", "the upload \(id) has \(found.offset) of \(found.record.length ?? 0) bytes")
        }
        return folder.sourceURL(id)
    }
}
