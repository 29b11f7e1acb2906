import JobSchema
import MediaTypes
import Text

/// Where the results of a batch go: the template of `--output`.
struct BatchOutput {
    /// The template with an absolute path, or a URL.
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
        let isURL = SourceAddress.isURL(typed)
        var path = isURL ? typed : try SourceAddress.absolutePath(typed)
        if typed.hasSuffix("/") || !isURL && SourceFolder.isFolder(path) {
            path += (path.hasSuffix("/") ? "" : "/") + "{stem}.{ext}"
        }
        template = path
        self.format = try LocalOutputs.format(format, orOf: path)
    }

    var isRemote: Bool { SourceAddress.isURL(template) }

    /// The part of the template that is the same for all results, with the slash at its end.
    var base: Substring {
        let fixed = template.prefix { $0 != "{" }
        return fixed[...(fixed.lastIndex(of: "/") ?? fixed.startIndex)]
    }

    /// The location of the result of a source that is in the folder below a given one; the folder is kept below the base.
    func location(of spec: JobSpec, in folder: Substring) -> String {
        let location = spec.location(ofOutput: 0, job: "output") ?? template
        guard !folder.isEmpty, location.hasPrefix(base) else { return location }
        let below = OutputPath.isServed(template) ? PercentEncoding.encoded(path: folder) : String(folder)
        return base + below + location.dropFirst(base.count)
    }
}
