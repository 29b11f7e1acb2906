import CLinux
import Crypto
import Glibc
import Lifecycle
package import SlotIPC
import Text

/// Whole sources of servers that jobs have fetched, for later ones that find by their tags that they are still the same.
///
/// A source is one file, named `<key>-<tag>` when all of it is there and not before; so what a killed process leaves is gone.
package struct SourceCache: Sendable {
    let folder: String
    let maxBytes: Int64
    private let maxAge: Int64
    /// Bytes of a tag in a file's name.
    private static let longestTag = 180

    /// Nothing if the policy keeps none, or the folder's file system knows no files without a name.
    package init?(policy: TransferPolicy) {
        guard let folder = policy.cacheFolder else { return nil }
        let probe = clinux_open_unnamed(folder, 0o600)
        guard probe >= 0 else { return nil }
        close(probe)
        self.folder = folder
        maxBytes = policy.maxCacheBytes
        maxAge = policy.maxCacheAge
    }

    /// What tells sources apart: where they are, and who asks for them.
    static func key(of target: RequestTarget) -> String {
        var parts = [target.url] + target.headers
        if case .s3(let keys, let region) = target.authorization { parts += [keys.identifier, region] }
        return Digest.of(Array(parts.joined(separator: "\n").utf8))
    }

    /// The source of that key which was kept last and is not too old.
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

    /// Whether the answer's body may be kept: the server can tell later that it is still the same, and its end shows that it is whole.
    func takes(_ head: HTTPHead) -> Bool {
        guard let tag = head.strongTag, Self.encoded(tag).utf8.count <= Self.longestTag, !head.isEndless else {
            return false
        }
        guard head["cache-control"]?.lowercased().contains("no-store") != true else { return false }
        return head.contentLength.map { $0 <= maxBytes } ?? head.marksEnd
    }

    /// Keeps a whole source, and lets go of what is too old or too much.
    func keep(_ spool: borrowing Spool, as key: String, tag: String) {
        guard let folder = open(), spool.length <= maxBytes else { return }
        // What a machine that loses its power has not written must not be found afterwards.
        guard spool.synchronize() else { return }
        let name = "\(key)-\(Self.encoded(tag))"
        _ = spool.link(name, in: folder)
        for other in names() where other.hasPrefix(key) && other != name { unlinkat(folder.number, other, 0) }
        shrink()
    }

    /// Lets go of what nobody has asked for in too long, and of the rest what was not asked for longest until it is not too much.
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

    /// Seconds since somebody last asked for it.
    private static func age(of file: stat) -> Int64 { max(0, Int64(time(nil)) - Int64(file.st_mtim.tv_sec)) }

    /// Whether the name is one that `keep` gives.
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

/// A source that was kept.
struct CachedSource: ~Copyable {
    let spool: Spool
    let tag: String
}
