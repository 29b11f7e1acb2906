import Crypto
import JobSchema
import MediaTypes
import Text

/// Where the results of a batch go: the template of `--output`.
struct BatchOutput {
    let isRemote: Bool
    /// The part of the template that is the same for all results, as an absolute path or URL, with the slash at its end.
    let base: String
    /// The template, of a path only what is behind the base: braces in the current folder's path are no placeholders.
    let template: String
    let format: String

    init(_ typed: String, format: String?) throws(CommandFailure) {
        guard typed != "-" else {
            throw .usage(
                "--output is '-', and standard output takes one result: leave out --output, and write `-` last")
        }
        guard !typed.contains("{id}") else {
            throw .usage("--output has {id}, which is the id of a job in a queue: use {stem} or {name}")
        }
        isRemote = SourceAddress.isURL(typed)
        var whole = typed
        let path = isRemote ? nil : try SourceAddress.absolutePath(typed)
        if typed.hasSuffix("/") || path.map(SourceFolder.isFolder) == true {
            whole += (typed.hasSuffix("/") ? "" : "/") + "{stem}.{ext}"
        }
        let fixed = whole.utf8.prefix { $0 != UInt8(ascii: "{") }
        let start = fixed.lastIndex(of: UInt8(ascii: "/")).map(fixed.index(after:)) ?? fixed.startIndex
        let folder = String(whole[..<start])
        if isRemote {
            (base, template) = (folder, whole)
        } else {
            let path = try SourceAddress.absolutePath(folder.isEmpty ? "." : folder)
            base = path == "/" ? path : path + "/"
            template = String(whole[start...])
        }
        self.format = try LocalOutputs.format(format, orOf: whole)
    }

    /// The location of the result of a source that is in the folder below a given one; the folder is kept below the base.
    func location(of spec: JobSpec, in folder: Substring) throws(CommandFailure) -> String {
        // Without a job's id, names that are cut are told apart by all of their characters.
        let name = spec.sourceURL.utf8.split(separator: UInt8(ascii: "/")).last ?? [][...]
        let mark = String(Digest.of(Array(name)).prefix(16))
        let filled = spec.location(ofOutput: 0, job: "output", mark: mark) ?? template
        guard isRemote else { return try SourceAddress.absolutePath(base + folder + filled) }
        guard !folder.isEmpty, filled.utf8.starts(with: base.utf8) else { return filled }
        let below = OutputPath.isServed(template) ? PercentEncoding.encoded(path: folder) : String(folder)
        return base + below + String(Substring(filled.utf8.dropFirst(base.utf8.count)))
    }
}
