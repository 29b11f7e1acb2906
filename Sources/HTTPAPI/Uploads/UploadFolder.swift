import CLinux
import FoundationEssentials
import Glibc
import JobSchema
import Lifecycle
import Text

/// The folder of uploads. An upload is a file under its id, and its record beside it. No name from a client is part of a path.
///
/// All calls block. A file has all bytes that were acknowledged, also after a crash: they are synced to the disk before.
package struct UploadFolder: Sendable {
    private let path: String
    /// The maximum size of an upload.
    let maxBytes: Int64
    private let age: Duration

    /// `nil` if there is no such folder, or if this process may not write to it.
    package init?(_ path: String, maxBytes: Int64, age: Duration) {
        guard let real = realpath(path, nil) else { return nil }
        defer { free(real) }
        self.path = String(cString: real)
        self.maxBytes = maxBytes
        self.age = age
        guard access(self.path, R_OK | W_OK | X_OK) == 0, (try? sync(".")) != nil else { return nil }
    }

    /// Whether a text is the id of an upload.
    static func isID(_ text: String) -> Bool {
        text.hasPrefix("up_") && text.utf8.count == 35
            && text.utf8.dropFirst(3).allSatisfy { (0x30...0x39).contains($0) || (0x61...0x66).contains($0) }
    }

    /// The source of a job that reads an upload.
    func sourceURL(_ id: String) -> String { "file://" + PercentEncoding.encoded(path: file(id)) }

    /// Creates an upload without bytes. It is there, and locked, before its record is.
    func create(_ record: UploadRecord) throws(Problem) -> (id: String, file: UploadFile) {
        let id = "up_" + (0..<16).map { _ in UInt8.random(in: .min ... .max) }.hexadecimal
        let number = open(file(id), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o640)
        guard number >= 0 else { throw Self.problem(.last) }
        let file = UploadFile(number)
        guard clinux_lock(number) == 0 else { throw .uploadLocked }
        do throws(Problem) { try write(record, of: id) } catch {
            remove(id)
            throw error
        }
        return (id, file)
    }

    /// Opens an upload of the owner to append to it. Nobody else appends until the descriptor is closed.
    func append(to id: String, owner: String) throws(Problem) -> (upload: Upload, file: UploadFile) {
        _ = try find(id, owner: owner)
        let number = open(file(id), O_WRONLY | O_NOFOLLOW | O_CLOEXEC)
        guard number >= 0 else { throw .noUpload(id) }
        let file = UploadFile(number)
        guard clinux_lock(number) == 0 else { throw .uploadLocked }
        // What an earlier request appended is only complete now.
        return (try find(id, owner: owner), file)
    }

    /// The upload of the owner. One of another token does not exist.
    func find(_ id: String, owner: String) throws(Problem) -> Upload {
        var status = stat()
        guard Self.isID(id), lstat(file(id), &status) == 0, status.st_mode & S_IFMT == S_IFREG,
            let data = FileManager.default.contents(atPath: file(id) + ".json"),
            let record = try? JSONDecoder().decode(UploadRecord.self, from: data), record.owner == owner
        else { throw .noUpload(id) }
        let expires = WallClock.milliseconds(of: status.st_mtim) + age.milliseconds
        guard expires > WallClock.milliseconds() else { throw .noUpload(id) }
        return Upload(id: id, record: record, offset: Int64(status.st_size), expires: expires)
    }

    /// The id of the upload that a job reads; `nil` if its source is another.
    func id(ofSource source: String?) -> String? {
        guard let id = source.flatMap({ $0.split(separator: "/").last.map(String.init) }), Self.isID(id),
            source == sourceURL(id)
        else { return nil }
        return id
    }

    /// The longest that an upload is kept for a job that starts later: the longest `delay`.
    private static let maxDelay: Int64 = 365 * 86_400_000

    /// Starts the time of an upload anew, now or when the job that reads it starts, in milliseconds since 1970; false if it has just
    /// expired. A later start of another job is kept. Throws if a request still appends to it.
    func touch(_ id: String, start: Int64? = nil) throws(Problem) -> Bool {
        let number = open(file(id), O_WRONLY | O_NOFOLLOW | O_CLOEXEC)
        guard number >= 0 else { return false }
        let opened = Descriptor(owning: number)
        var status = stat()
        // Another `touch` and the removal of expired uploads hold the lock for a moment.
        var attempts = 0
        while clinux_lock(opened.number) != 0 {
            attempts += 1
            guard attempts < 20 else { throw .uploadLocked }
            usleep(5000)
        }
        guard fstat(opened.number, &status) == 0, status.st_nlink > 0 else { return false }
        let now = WallClock.milliseconds()
        let time = max(now, min(start ?? 0, now + Self.maxDelay), WallClock.milliseconds(of: status.st_mtim))
        let instant = WallClock.time(milliseconds: time)
        return futimens(opened.number, [instant, instant]) == 0
    }

    /// Stores the record of an upload.
    func write(_ record: UploadRecord, of id: String) throws(Problem) {
        let bytes = JSONBody.bytes(record)
        let temporary = file(id) + ".new"
        let number = open(temporary, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0o600)
        guard number >= 0 else { throw Self.problem(.last) }
        let new = Descriptor(owning: number)
        let isWritten = bytes.withUnsafeBytes { Glibc.write(new.number, $0.baseAddress, $0.count) == $0.count }
        guard isWritten, fsync(new.number) == 0, rename(temporary, file(id) + ".json") == 0 else {
            let error = Errno.last
            unlink(temporary)
            throw Self.problem(error)
        }
        do throws(Errno) { try sync(".") } catch { throw Self.problem(error) }
    }

    /// Removes an upload that nobody appends to.
    func remove(_ id: String, owner: String) throws(Problem) {
        _ = try append(to: id, owner: owner)
        remove(id)
    }

    /// Removes an upload, whoever made it.
    func remove(_ id: String) {
        for suffix in [".new", ".json", ""] { unlink(file(id) + suffix) }
    }

    /// Removes uploads whose time is over, unless a request appends to them, and returns their ids.
    package func removeExpired() throws(Problem) -> [String] {
        guard let names = try? FileManager.default.contentsOfDirectory(atPath: path) else {
            throw Problem(500, "internal", "the folder of uploads '\(path)' cannot be read: uploads do not expire")
        }
        let ids = Set(names.map { String($0.prefix { $0 != "." }) }).filter(Self.isID)
        return ids.filter { id in
            let end = WallClock.milliseconds() - age.milliseconds
            let number = open(file(id), O_WRONLY | O_NOFOLLOW | O_CLOEXEC)
            guard number >= 0 else {
                // Only a record is left, after a crash.
                var status = stat()
                guard lstat(file(id) + ".json", &status) == 0 || lstat(file(id) + ".new", &status) == 0,
                    WallClock.milliseconds(of: status.st_mtim) < end
                else { return false }
                remove(id)
                return true
            }
            let opened = Descriptor(owning: number)
            var status = stat()
            // Looked at under the lock, because a job or a request may just have begun to use it.
            guard clinux_lock(opened.number) == 0, fstat(opened.number, &status) == 0,
                WallClock.milliseconds(of: status.st_mtim) < end
            else { return false }
            remove(id)
            return true
        }.sorted()
    }

    /// The problem of a call that failed.
    static func problem(_ error: Errno) -> Problem {
        switch error.rawValue {
        case ENOSPC, EDQUOT: Problem(507, "out_of_space", "no space is left for uploads")
        default: Problem(500, "internal", "an upload cannot be written: \(error)")
        }
    }

    private func file(_ id: String) -> String { "\(path)/\(id)" }

    private func sync(_ name: String) throws(Errno) {
        let number = open("\(path)/\(name)", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard number >= 0 else { throw .last }
        let folder = Descriptor(owning: number)
        guard fsync(folder.number) == 0 else { throw .last }
    }
}

extension Problem {
    static func noUpload(_ id: String) -> Problem {
        Problem(404, "not_found", "there is no upload \(id): it may have expired")
    }

    static let uploadLocked = Problem(423, "locked", "another request sends bytes of this upload: repeat it later")

    static let uploadsOff = Problem(
        404, "uploads_off", "this server takes no uploads: start it with RESPOOL_UPLOAD_DIR")
}
