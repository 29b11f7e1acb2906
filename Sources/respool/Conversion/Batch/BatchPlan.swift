import Glibc
import JobSchema
import MediaTypes

/// The sources of a batch with their outputs, checked as a whole before anything starts.
struct BatchPlan {
    private(set) var items: [BatchItem] = []
    /// The reports of what is not converted.
    private(set) var reports: [BatchReport] = []
    let output: BatchOutput
    private let fields: [String: String]
    /// The sources that are in the plan, by URL.
    private var known: Set<String> = []

    /// The number of all reports of the batch.
    var count: Int { items.reduce(reports.count) { $0 + 1 + $1.others.count } }

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
        guard count > 0 else { throw .failed("there are no files in the folders: give sources") }
        if !output.isRemote {
            if mayReplace { try protectSources() } else { dropResults() }
        }
        try separateLocations()
    }

    /// Replaces the base of all locations by another path of the same folder.
    mutating func move(to folder: String) {
        let base = folder == "/" ? folder : folder + "/"
        items = items.map { moved($0, to: base) }
    }

    private func moved(_ item: BatchItem, to base: String) -> BatchItem {
        var item = item
        item.location = base + String(Substring(item.location.utf8.dropFirst(output.base.utf8.count)))
        item.others = item.others.map { moved($0, to: base) }
        return item
    }

    // MARK: Sources

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
        let typed = operand.hasSuffix("/") ? operand : operand + "/"
        let found = SourceFolder(path, excluded: output.isRemote ? nil : FileIdentity(output.base))
        for (name, failure) in found.failures {
            reports.append(BatchReport(source: typed + name, .failed, error: failure))
        }
        for file in found.files {
            guard ConvertOptions.playlistFolder("/" + file) == nil else {
                let failure = Failure(
                    .unsupportedFormat, "a playlist that is found in a folder is not converted: give it as a source")
                reports.append(BatchReport(source: typed + file, .ignored, error: failure))
                continue
            }
            let folder = file.utf8.lastIndex(of: UInt8(ascii: "/")).map { file[..<file.utf8.index(after: $0)] } ?? ""
            try add(typed + file, url: try SourceAddress.url(typed + file), in: folder, isFound: true)
        }
    }

    private mutating func add(
        _ source: String, url: String, in folder: Substring, isFound: Bool = false
    ) throws(CommandFailure) {
        guard known.insert(url).inserted else { return }
        var fields = fields
        fields["source"] = url
        let spec: JobSpec
        do throws(Failure) { spec = try JobSpec(fields: fields) } catch {
            throw .usage(error, of: SourceAddress.shown(source))
        }
        let location = try output.location(of: spec, in: folder)
        items.append(BatchItem(source: source, spec: spec, location: location, isFound: isFound))
    }

    private static func isPipe(_ path: String) -> Bool {
        var status = stat()
        return stat(path, &status) == 0 && [S_IFIFO, S_IFCHR, S_IFSOCK].contains(status.st_mode & S_IFMT)
    }

    // MARK: Locations

    /// Whether an output replaces what exists in its location.
    private var mayReplace: Bool { items.contains { $0.spec.deliveries[0].overwrite == .replace } }

    /// Leaves out found files that are results of other sources, as those of an earlier run. What would be replaced is not left
    /// out, because it may be an original.
    private mutating func dropResults() {
        let identities = items.map { $0.path.flatMap(FileIdentity.init) }
        let results = Set(
            zip(items, identities).compactMap { item, source in
                FileIdentity(item.location).flatMap { $0 == source ? nil : $0 }
            })
        items = zip(items, identities).filter { item, source in
            !item.isFound || source.map { !results.contains($0) } ?? true
        }.map(\.0)
    }

    /// Throws if an output is a source, under whichever path.
    private mutating func protectSources() throws(CommandFailure) {
        let sources = Dictionary(
            items.compactMap { item in item.path.flatMap(FileIdentity.init).map { ($0, item) } }
        ) { first, _ in first }
        var kept: [BatchItem] = []
        for item in items {
            guard let source = FileIdentity(item.location).flatMap({ sources[$0] }) else {
                kept.append(item)
                continue
            }
            guard item.isUncertain else {
                throw .usage(
                    "the output of '\(SourceAddress.shown(item.source))' is the source '\(source.source)': "
                        + "give --output another folder, or add --overwrite skip")
            }
            ignore(item, because: "the source '\(source.source)'")
        }
        items = kept
    }

    /// Throws if two sources have the same output. Of files that may be no audio, such as a text beside a song, one has it.
    private mutating func separateLocations() throws(CommandFailure) {
        // Names that only look equal, because they compose accents in another way, are different files.
        var places: [[UInt8]: Int] = [:]
        var kept: [BatchItem] = []
        for item in items {
            let key = Array(item.location.utf8)
            guard let index = places[key] else {
                places[key] = kept.count
                kept.append(item)
                continue
            }
            let other = kept[index]
            switch (other.isUncertain, item.isUncertain) {
            case (true, true): kept[index].others.append(item)
            case (false, true): ignore(item, because: "the output of '\(SourceAddress.shown(other.source))'")
            case (true, false):
                for uncertain in [other] + other.others {
                    ignore(uncertain, because: "the output of '\(SourceAddress.shown(item.source))'")
                }
                kept[index] = item
            case (false, false):
                let sources = [other, item].map { "'\(SourceAddress.shown($0.source))'" }.joined(separator: " and ")
                let shown = TextLayout.printable(OutputPath.redacted(item.location))
                throw .usage(
                    "\(sources) have the same output '\(shown)': use {stem} or {name}, or convert one of them alone")
            }
        }
        items = kept
    }

    private mutating func ignore(_ item: BatchItem, because owner: String) {
        reports.append(BatchReport(item, locatedAt: owner))
    }
}
