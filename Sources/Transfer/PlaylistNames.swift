import Crypto
import Glibc
import Lifecycle
import Playlists
import SlotIPC
import Storage

/// What one reading of a playlist names, as hashes: a playlist of a day has 100,000 names.
///
/// The other child may have been taken over by what it read, so what it asks for is looked up here.
struct PlaylistNames {
    private let names: Set<UInt128>
    /// Whether the bytes are a playlist at all.
    let isPlaylist: Bool

    /// The names in a file, all of whose bytes are there; none if it is no playlist.
    init(in file: borrowing Descriptor, length: Int64, atMost maxBytes: Int64) {
        var names: Set<UInt128> = []
        var isPlaylist = false
        if length <= min(maxBytes, HLSPlaylist.maxBytes), let bytes = Self.read(file, Int(length)),
            PlaylistMark.begins(bytes.prefix(PlaylistMark.length))
        {
            isPlaylist = bytes.withUnsafeBytes { bytes in
                do throws(PlaylistError) {
                    try HLSPlaylist.forEachName(in: bytes) { names.insert(Self.hash($0, NestedReference($1))) }
                    return true
                } catch { return false }
            }
        }
        self.isPlaylist = isPlaylist
        self.names = isPlaylist ? names : []
    }

    /// Whether the playlist names just this, as just that kind.
    func contains(_ reference: String, as kind: NestedReference) -> Bool { names.contains(Self.hash(reference, kind)) }

    private static func hash(_ reference: String, _ kind: NestedReference) -> UInt128 {
        Digest.half(of: "\(kind.rawValue) \(reference)")
    }

    private static func read(_ file: borrowing Descriptor, _ length: Int) -> [UInt8]? {
        let number = file.number
        let bytes = [UInt8](unsafeUninitializedCapacity: length) { buffer, count in
            while count < length {
                let step = pread(number, buffer.baseAddress! + count, length - count, off_t(count))
                if step < 0, errno == EINTR { continue }
                guard step > 0 else { return }
                count += step
            }
        }
        return bytes.count == length ? bytes : nil
    }
}

extension NestedReference {
    init(_ kind: NestedKind) {
        switch kind {
        case .playlist: self = .playlist
        case .segment: self = .segment
        case .key: self = .key
        case .map: self = .map
        }
    }
}
