import Crypto
import Glibc
import Lifecycle
import Playlists
import SlotIPC

/// The references in one version of a playlist, as hashes: a playlist of one day has 100,000 of them.
///
/// A malicious source may have compromised the transcoder, so its requests are checked against this set.
struct PlaylistNames {
    private let names: Set<UInt128>
    /// Whether the file is a playlist.
    let isPlaylist: Bool

    /// The references in a complete file; none if it is not a playlist.
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

    /// Whether the playlist contains exactly this reference with exactly this kind.
    func contains(_ reference: String, as kind: NestedReference) -> Bool { names.contains(Self.hash(reference, kind)) }

    private static func hash(_ reference: String, _ kind: NestedReference) -> UInt128 {
        Digest.half(of: "\(kind.rawValue) \(reference)")
    }

    /// The first bytes of a file; `nil` if it has fewer.
    static func read(_ file: borrowing Descriptor, _ length: Int) -> [UInt8]? {
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
