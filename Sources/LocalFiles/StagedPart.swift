import CLinux
import Crypto
import Glibc
package import JobSchema
import Lifecycle

/// A finished file of an output in addition to the main one. It is closed; its staged name and the main file's lock protect it.
struct StagedPart: Sendable {
    /// Relative to the main file's folder.
    package let name: String
    let stagedName: String
    var isPublished = false
    /// Whether the file that it replaced is kept.
    var keepsOld = false
}

/// A file of an output in addition to the main one, while it is written.
package struct PartInProgress: ~Copyable {
    /// The owner of the part's descriptor, which closes it.
    package var file: SealableFile
    let stagedName: String
    var isNamed: Bool
    /// Relative to the main file's folder.
    package let name: String

    package init(file: consuming SealableFile, stagedName: String, isNamed: Bool, name: String) {
        self.file = file
        self.stagedName = stagedName
        self.isNamed = isNamed
        self.name = name
    }

    /// Replaces the part by the copy. Neither may have a name.
    package mutating func replace(by copy: consuming FileCopy) { file = copy.file }
}

extension StagedFile {
    /// Begins a part. Its name is the stem of the main file's name followed by the suffix.
    package mutating func createPart(_ suffix: String, token: String) throws(Failure) -> PartInProgress {
        let name = destination.partName(suffix, token: token)
        _ = try destination.part(name)
        guard !parts.contains(where: { $0.name == name }) else {
            throw Failure(.internal, "the part '\(name)' of the output '\(destination.path)' is written twice")
        }
        // A sweeper recognizes the owner of the parts by the main file's staged name.
        try giveName()
        let staged = StagedPart.stagedName(stagedName, of: name)
        if let file = try Self.createUnnamed(for: destination, in: folder) {
            return PartInProgress(file: file, stagedName: staged, isNamed: false, name: name)
        }
        let file = try Self.openNamed(staged, in: folder, destination)
        return PartInProgress(file: file, stagedName: staged, isNamed: true, name: name)
    }

    /// Takes over the complete part, which is closed and keeps its staged name.
    package mutating func keep(_ part: consuming PartInProgress) throws(Failure) {
        let file = part.file.number
        guard fsync(file) == 0, part.isNamed || clinux_link_unnamed_in(file, folder.number, part.stagedName) == 0
        else { throw destination.writing(.last) }
        parts.append(StagedPart(name: part.name, stagedName: part.stagedName))
    }

    /// Discards an incomplete part.
    package func discard(_ part: consuming PartInProgress) {
        if part.isNamed { unlinkat(folder.number, part.stagedName, 0) }
    }

    /// Begins a copy of a part, or of the main file if `part` is `nil`.
    package mutating func createCopy(of part: borrowing PartInProgress?) throws(Failure) -> FileCopy {
        if let file = try Self.createUnnamed(for: destination, in: folder) { return try destination.copy(file) }
        let name =
            switch part {
            case .some(let part): Self.copyName(part.stagedName)
            case nil: Self.copyName(stagedName)
            }
        copyNames.insert(name)
        return try destination.copy(Self.openNamed(name, in: folder, destination), name: name)
    }

    /// Replaces the part by the copy, which takes over the part's staged name if there is one.
    package mutating func replace(_ part: inout PartInProgress, by copy: consuming FileCopy) throws(Failure) {
        if try take(copy, as: part.stagedName, isNamed: part.isNamed) { part.isNamed = true }
        part.file = copy.file
    }

    /// Gives the copy its name if it or the file that it replaces has one; returns whether it did.
    mutating func take(_ copy: borrowing FileCopy, as name: String, isNamed: Bool) throws(Failure) -> Bool {
        guard isNamed || copy.name != nil else { return false }
        let former = copy.name ?? Self.copyName(name)
        copyNames.insert(former)
        if copy.name == nil, clinux_link_unnamed_in(copy.file.number, folder.number, former) != 0 {
            throw destination.writing(.last)
        }
        guard renameat(folder.number, former, folder.number, name) == 0 else { throw destination.writing(.last) }
        copyNames.remove(former)
        return true
    }

    /// This form is a part's name to a sweeper, which keeps it as long as the main file is locked.
    private static func copyName(_ stagedName: String) -> String { "\(stagedName)~copy" }

    /// The names of the finished parts, in order.
    package borrowing func partNames() -> [PartNames] { PartNames.runs(of: parts.map(\.name)) }

    mutating func publishParts(keeping: KeptFiles, replacing: Bool) throws(Failure) {
        var others: [String: Destination] = [:]
        for index in parts.indices where !parts[index].isPublished {
            let part = try destination.part(parts[index].name)
            let target = part.folder == destination.folder ? nil : try part.openOrCreateFolder()
            let staged = parts[index].stagedName
            switch target {
            case .some(let open):
                parts[index].keepsOld = try part.take(
                    staged, from: folder, into: open, keeping: keeping, replacing: replacing)
            case nil:
                parts[index].keepsOld = try part.take(
                    staged, from: folder, into: folder, keeping: keeping, replacing: replacing)
            }
            parts[index].isPublished = true
            if part.folder != destination.folder { others[part.folder] = part }
        }
        for part in others.values {
            guard let other = try part.openExistingFolder(), fsync(other.number) == 0 else { throw part.writing(.last) }
        }
    }

    mutating func rollbackParts() {
        for part in parts where part.isPublished {
            try? destination.part(part.name).restore(part.stagedName, from: folder)
        }
        parts.removeAll { $0.isPublished }
    }
}

extension StagedPart {
    /// The staged name of a part. It depends on the part's name and not on its position, because the commit record keeps the
    /// names of many parts but not their order.
    static func stagedName(_ main: String, of name: String) -> String {
        "\(main)~\(Digest.of(Array(name.utf8)).prefix(16))"
    }
}

extension Destination {
    /// Restores the file that a published part had replaced, or removes the part if there is none.
    func restore(_ stagedName: String, from staging: borrowing Descriptor) throws(Failure) {
        guard let folder = try openExistingFolder() else { return }
        restore(stagedName, from: staging, into: folder)
    }
}
