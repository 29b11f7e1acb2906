package import JobSchema
import MediaTypes
import Requests
package import SlotIPC
import Text

/// The path of an output: a name in a folder under the output root, or the one path that a person granted.
package struct Destination: Hashable, Sendable {
    /// The folder that must not be left: the output root, or the folder of the granted file.
    let rootPath: String
    /// Folders below the root, created if they are missing.
    let folderNames: [String]
    /// The last part of the path.
    package let name: String

    /// The prefix of the names of staged files. No output name has it.
    package static let stagedPrefix = ".respool-"
    /// The prefix of the names of files that are kept for a rollback. No output name has it.
    package static let keptPrefix = ".respool_"

    /// The absolute path.
    package var path: String { folder == "/" ? "/" + name : folder + "/" + name }

    /// The absolute path of the folder.
    package var folder: String {
        folderNames.isEmpty ? rootPath : (rootPath == "/" ? "" : rootPath) + "/" + folderNames.joined(separator: "/")
    }

    /// Determines the path from names alone, without access to the file system.
    package init(_ output: String?, defaultName: String, policy: TransferPolicy) throws(Failure) {
        var text = try Self.path(output ?? "")
        let shown = OutputPath.redacted(output ?? defaultName)
        if text.isEmpty || text.hasSuffix("/") { text += Self.sanitized(defaultName) }
        if text.hasPrefix("/"), let own = Self.granted(text, policy) {
            rootPath = "/" + own.dropLast().joined(separator: "/")
            folderNames = []
            name = own.last ?? ""
        } else {
            let (root, below) = try Self.components(text, policy, shown: shown)
            rootPath = root == "/" ? "/" : "/" + (Self.normalized(root) ?? []).joined(separator: "/")
            folderNames = below.dropLast()
            name = below.last ?? ""
        }
        try checkName(shown)
    }

    init(rootPath: String, folderNames: [String], name: String) {
        self.rootPath = rootPath
        self.folderNames = folderNames
        self.name = name
    }

    /// The destination of a part, from its name relative to this output's folder.
    ///
    /// The name is composed by `partName` or read from Redis. A name that could lead outside the folder is refused.
    package func part(_ relativeName: String) throws(Failure) -> Destination {
        let names = relativeName.split(separator: "/", omittingEmptySubsequences: false).map(String.init)
        let areNames = names.allSatisfy { name in
            !["", ".", ".."].contains(name) && name.utf8.count <= 255 && !name.hasPrefix(Self.stagedPrefix)
                && !name.hasPrefix(Self.keptPrefix)
                && !name.unicodeScalars.contains(where: \.isUnprintable)
        }
        guard areNames, names.count <= 4, relativeName != name else {
            throw Failure(.internal, "a part of the output '\(path)' has the name '\(relativeName.prefix(100))'")
        }
        return Destination(rootPath: rootPath, folderNames: folderNames + names.dropLast(), name: names.last!)
    }

    /// The name of a part: the stem of this name followed by the suffix. `{token}` in the suffix is replaced by letters that
    /// are unique to the owner.
    package func partName(_ suffix: String, token: String) -> String { Self.partName(of: name, suffix, token: token) }

    /// The name of a part of an output with the given name.
    package static func partName(of name: String, _ suffix: String, token: String) -> String {
        let short = String(
            token.filter { $0.isASCII && ($0.isLetter || $0.isNumber) }.suffix(PartPattern.maxTokenBytes))
        let separator = suffix.first.map { "-._/".contains($0) } == true ? "" : "-"
        return OutputPath.partName(of: name, separator + suffix.replacing("{token}", with: short))
    }

    private func checkName(_ shown: String) throws(Failure) {
        guard !name.isEmpty else { throw Failure(.outputDenied, "the output '\(shown)' is a folder; add a name") }
        guard !name.hasPrefix(Self.stagedPrefix), !name.hasPrefix(Self.keptPrefix) else {
            throw Failure(
                .outputDenied, "the name of the output '\(shown)' is reserved by respool; choose another")
        }
        guard name.utf8.count <= 255 else {
            throw Failure(.outputDenied, "the name of the output '\(shown.prefix(100))…' exceeds 255 bytes")
        }
    }

    /// The folder that must not be left, and the path components below it.
    private static func components(
        _ text: String, _ policy: TransferPolicy, shown: String
    ) throws(Failure) -> (root: String, below: [String]) {
        if text.hasPrefix("/"), let folder = policy.previewFolder,
            let below = try? components(text, below: folder, shown: shown)
        {
            return (folder, below)
        }
        guard let outputRoot = policy.outputRoot else {
            throw Failure(
                .outputDenied,
                "the output '\(shown)' is a path, and this worker writes only to URLs: "
                    + "give a URL, or set RESPOOL_OUTPUT_ROOT to a folder")
        }
        return (outputRoot, try components(text, below: outputRoot, shown: shown))
    }

    /// The path components below the root. A path outside the root is denied.
    private static func components(_ text: String, below root: String, shown: String) throws(Failure) -> [String] {
        let outside = OutputPath.outside(shown)
        guard let rootParts = normalized(root) else {
            throw Failure(
                .outputDenied, "the output root '\(root)' is not an absolute path; correct RESPOOL_OUTPUT_ROOT")
        }
        if !text.hasPrefix("/") {
            guard let parts = OutputPath.components(text) else { throw outside }
            return parts
        }
        guard let parts = normalized(text) else { throw outside }
        for candidate in [rootParts, realFolder(root).flatMap(normalized) ?? rootParts]
        where parts.starts(with: candidate) {
            return Array(parts.dropFirst(candidate.count))
        }
        throw outside
    }

    /// The path's components without `.`, `..` and double slashes; `nil` if the path is relative or climbs above its start.
    private static func normalized(_ path: String) -> [String]? {
        path.hasPrefix("/") ? OutputPath.components(path) : nil
    }

    /// The components of the path, if a person granted it; otherwise `nil`.
    private static func granted(_ text: String, _ policy: TransferPolicy) -> [String]? {
        guard let parts = normalized(text), policy.grantedOutputs.contains(where: { normalized($0) == parts }) else {
            return nil
        }
        return parts
    }

    /// The path that a file URL names, or the text itself.
    private static func path(_ output: String) throws(Failure) -> String {
        guard !output.utf8.contains(0) else { throw Failure(.invalidRequest, "the output contains a null character") }
        if output.lowercased().hasPrefix("file:/") {
            guard case .file(let path) = try SourceLocation(output) else { return output }
            return path
        }
        if let colon = output.firstIndex(of: ":"), output[colon...].hasPrefix("://") {
            throw Failure(
                .invalidRequest,
                "the output '\(redactedURL(output))' is not supported yet; give a path below the output root")
        }
        return output
    }

    /// The name with slashes and unprintable characters replaced, so that it is a single path component.
    package static func sanitized(_ name: String) -> String {
        let safe = name.unicodeScalars.map { scalar -> Character in
            scalar == "/" || scalar.isUnprintable ? "_" : Character(scalar)
        }
        return String(safe)
    }
}
