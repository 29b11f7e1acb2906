import CLinux
import Crypto
import Glibc
import Lifecycle
import LocalFiles
import Requests
package import SlotIPC
import Text

/// Whole sources that jobs have fetched from servers. Later jobs revalidate them by their entity tags.
///
/// A source is one file. It is named `<key>-<tag>` only once it is complete, so a killed process leaves no partial file behind.
package struct SourceCache: Sendable {
    let folder: String
    let maxBytes: Int64
    private let maxAge: Int64
    /// Maximum length in bytes of an encoded tag in a file name.
    private static let longestTag = 180

    /// `nil` if the policy has no cache, or if the folder's file system does not support unnamed files (`O_TMPFILE`).
    package init?(policy: TransferPolicy) {
        guard let folder = policy.cacheFolder else { return nil }
        let probe = clinux_open_unnamed(folder, 0o600)
        guard probe >= 0 else { return nil }
        close(probe)
        self.folder = folder
        maxBytes = policy.maxCacheBytes
        maxAge = policy.maxCacheAge
    }

    /// The cache key: the URL of the source and the identity of the requester.
    static func key(of target: RequestTarget) -> String {
        var parts = [target.url] + target.headers
        if case .s3(let keys, let region) = target.authorization { parts += [keys.identifier, region] }
        return Digest.of(Array(parts.joined(separator: "\n").utf8))
    }

    /// The most recently used source with that key, unless it is too old.
    func find(_ key: String) -> CachedSource? {
        guard let folder = open() else { return nil }
        var newest: (name: String, age: Int64)?
        for name in names() where name.hasPrefix(key) {
            guard let age = self.age(of: name, in: folder), age < newest?.age ?? maxAge else { continue }
            newest = (name, age)
        }
        guard let name = newest?.name, let tag = PercentEncoding.decoded(name.dropFirst(key.utf8.count + 1)) else {
            return nil
        }
        let opened = openat(folder.number, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC)
        guard opened >= 0 else { return nil }
        let file = Descriptor(owning: opened)
        guard let found = try? status(of: file), found.isRegular else { return nil }
        return CachedSource(spool: Spool(owning: file, length: Int64(found.st_size)), tag: tag)
    }

    /// Whether the response body may be cached: the server can revalidate it, and its end is detectable.
    func takes(_ head: HTTPHead) -> Bool {
        guard let tag = head.strongTag, Self.encoded(tag).utf8.count <= Self.longestTag, !head.isEndless else {
            return false
        }
        guard head["cache-control"]?.lowercased().contains("no-store") != true else { return false }
        return head.contentLength.map { $0 <= maxBytes } ?? head.marksEnd
    }

    /// Caches a whole source, and removes sources that are too old or exceed the size limit.
    func keep(_ spool: borrowing Spool, as key: String, tag: String) {
        guard let folder = open(), spool.length <= maxBytes else { return }
        // After a power failure, the cache must not contain a file whose contents were not written to disk.
        guard spool.synchronize() else { return }
        let name = "\(key)-\(Self.encoded(tag))"
        _ = spool.link(name, in: folder)
        for other in names() where other.hasPrefix(key) && other != name { unlinkat(folder.number, other, 0) }
        shrink()
    }

    /// Removes sources that have not been used for too long, then the least recently used ones until the size limit is met.
    package func shrink() {
        guard let folder = open() else { return }
        var files: [(name: String, age: Int64, bytes: Int64)] = []
        for name in names() where Self.isKept(name) {
            var found = stat()
            guard fstatat(folder.number, name, &found, AT_SYMLINK_NOFOLLOW) == 0, found.isRegular else { continue }
            files.append((name, Self.age(of: found), Int64(found.st_blocks) * 512))
        }
        var rest = maxBytes
        for file in files.sorted(by: { $0.age < $1.age }) {
            rest -= file.bytes
            if rest < 0 || file.age >= maxAge { unlinkat(folder.number, file.name, 0) }
        }
    }

    private func age(of name: String, in folder: borrowing Descriptor) -> Int64? {
        var found = stat()
        return fstatat(folder.number, name, &found, AT_SYMLINK_NOFOLLOW) == 0 ? Self.age(of: found) : nil
    }

    /// Seconds since the last use.
    private static func age(of file: stat) -> Int64 { max(0, Int64(time(nil)) - Int64(file.st_mtim.tv_sec)) }

    /// Whether the name has the form that `keep` gives to files.
    private static func isKept(_ name: String) -> Bool {
        name.utf8.count > 65 && name.utf8.prefix(64).allSatisfy("0123456789abcdef".utf8.contains)
            && name.utf8.dropFirst(64).first == UInt8(ascii: "-")
    }

    private static func encoded(_ tag: String) -> String {
        PercentEncoding.encoded(tag, keeping: PercentEncoding.unreserved.contains)
    }

    private func open() -> Descriptor? {
        let opened = Glibc.open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        return opened < 0 ? nil : Descriptor(owning: opened)
    }

    private func names() -> [String] {
        guard let stream = opendir(folder) else { return [] }
        defer { closedir(stream) }
        var names: [String] = []
        while let entry = readdir(stream) { names.append(entry.name) }
        return names
    }
}

/// A source from the cache.
struct CachedSource: ~Copyable {
    let spool: Spool
    let tag: String
}
