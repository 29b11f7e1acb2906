import Glibc
import JobSchema
import MediaTypes

/// The sources of a batch with their outputs, checked as a whole before anything starts.
struct BatchPlan {
    private(set) var items: [BatchItem] = []
    let output: BatchOutput
    private let fields: [String: String]
    /// The sources that are in the plan, by URL.
    private var known: Set<String> = []

    init(_ arguments: Arguments) throws(CommandFailure) {
        var fields = FieldOptions.fields(arguments, of: FieldOptions.conversion)
        guard fields["outputs"] == nil else {
            throw .usage("--output and --outputs are mutually exclusive: give one of them")
        }
        output = try BatchOutput(arguments.given(ConvertOptions.output).last ?? "", format: fields["format"])
        fields["format"] = output.format
        fields["output"] = output.template
        self.fields = fields
        for operand in arguments.operands {
            try add(operand, isRecursive: arguments.has(ConvertOptions.recursive))
        }
        guard !items.isEmpty else { throw .failed("there are no files in the folders: give sources") }
        try checkLocations()
    }

    private mutating func add(_ operand: String, isRecursive: Bool) throws(CommandFailure) {
        let isURL = SourceAddress.isURL(operand)
        let path = isURL ? nil : try SourceAddress.absolutePath(operand)
        guard let path, SourceFolder.isFolder(path) else {
            guard operand != "-", path.map(Self.isPipe) != true else {
                throw .usage("'\(operand)' is a pipe: with --output, give files, folders or URLs")
            }
            return try add(operand, url: try SourceAddress.url(operand), in: "")
        }
        guard isRecursive else {
            throw .usage("'\(operand)' is a folder: add --recursive to convert the files in and below it")
        }
        let results = output.isRemote ? nil : SourceFolder.realPath(of: String(output.base))
        let typed = operand.hasSuffix("/") ? operand : operand + "/"
        for file in try SourceFolder(excluded: results).files(in: path) {
            let folder = file.lastIndex(of: "/").map { file[...$0] } ?? ""
            try add(typed + file, url: try SourceAddress.url(typed + file), in: folder, isFound: true)
        }
    }

    private mutating func add(
        _ source: String, url: String, in folder: Substring, isFound: Bool = false
    ) throws(CommandFailure) {
        guard known.insert(url).inserted else { return }
        var fields = fields
        fields["source"] = url
        do throws(Failure) {
            let spec = try JobSpec(fields: fields)
            let location = output.location(of: spec, in: folder)
            items.append(BatchItem(source: source, spec: spec, location: location, isFound: isFound))
        } catch { throw .usage("\(SourceAddress.shown(source)): \(error.message)") }
    }

    /// Throws if two sources have the same output, or an output is a source.
    private func checkLocations() throws(CommandFailure) {
        var owners: [String: BatchItem] = [:]
        for item in items {
            let key = output.isRemote ? item.location : "/" + item.location.split(separator: "/").joined(separator: "/")
            let shown = TextLayout.printable(OutputPath.redacted(item.location))
            if let other = owners.updateValue(item, forKey: key) {
                let sources = [other, item].map { "'\(SourceAddress.shown($0.source))'" }.joined(separator: " and ")
                throw .usage(
                    "\(sources) have the same output '\(shown)': use {stem} or {name}, or convert one of them alone")
            }
        }
        guard !output.isRemote else { return }
        let sources = Dictionary(items.compactMap { item in item.path.map { ($0, item) } }) { first, _ in first }
        for item in items {
            if let source = sources[item.location] ?? (Self.isSameFile(item.path, item.location) ? item : nil) {
                throw .usage(
                    "the output of '\(item.source)' is the source '\(source.source)': give --output another folder")
            }
        }
    }

    private static func isSameFile(_ left: String?, _ right: String) -> Bool {
        var (one, other) = (stat(), stat())
        guard let left, stat(left, &one) == 0, stat(right, &other) == 0 else { return false }
        return (one.st_dev, one.st_ino) == (other.st_dev, other.st_ino)
    }

    private static func isPipe(_ path: String) -> Bool {
        var status = stat()
        return stat(path, &status) == 0 && [S_IFIFO, S_IFCHR, S_IFSOCK].contains(status.st_mode & S_IFMT)
    }
}
