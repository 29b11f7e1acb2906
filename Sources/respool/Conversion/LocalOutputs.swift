import FoundationEssentials
import Glibc
import JobSchema
import Lifecycle
import MediaTypes

/// The outputs requested from `convert`, and their destinations.
struct LocalOutputs {
    /// The fields of the job, except the source.
    private(set) var fields: [String: String]
    /// Absolute paths; `nil` for standard output.
    let destinations: [String?]
    /// The destinations as typed.
    let targets: [String]

    /// One output for each destination, or for each element of `--outputs`; the latter may share a folder.
    init(_ arguments: Arguments) throws(CommandFailure) {
        let source = arguments.operands[0]
        let targets = Array(arguments.operands.dropFirst())
        var fields = FieldOptions.fields(arguments, of: FieldOptions.conversion)
        if fields["outputs"] == nil, targets.count == 1 {
            let format = try Self.format(fields["format"], orOf: targets[0])
            fields["format"] = format
            let isPeaks = AudioFormat.named(format)?.picture == .peaks
            if isPeaks, fields["peaks_format"] == nil, targets[0].lowercased().hasSuffix(".dat") {
                fields["peaks_format"] = "dat"
            }
            self.fields = fields
            self.targets = targets
            destinations = [targets[0] == "-" ? nil : try Self.destination(targets[0], source, format)]
            // The delivery settings are validated together with the URL.
            if let url = destinations[0], SourceAddress.isURL(url) { self.fields["output"] = url }
            return
        }
        var elements = try Self.elements(fields["outputs"], targets)
        var (destinations, typed) = ([String?](), [String]())
        let folder = fields["outputs"] == nil ? nil : try targets.first.map(Self.folder)
        for (index, element) in elements.enumerated() {
            guard let target = Self.target(element["output"]?.field, in: folder) else {
                throw .usage("`outputs[\(index)].output` is missing: give a path, or a folder for all of them")
            }
            guard target != "-" else {
                throw .usage("standard output takes one result, and there are several: give files or a folder")
            }
            let format = try Self.format(element["format"]?.field ?? fields["format"], orOf: target)
            let destination = try Self.destination(target, source, format)
            elements[index]["format"] = .string(format)
            elements[index]["output"] = .string(destination)
            destinations.append(destination)
            typed.append(target)
        }
        fields["outputs"] = JSONLine.text(elements)
        self.fields = fields
        self.destinations = destinations
        self.targets = typed
    }

    private static func elements(
        _ outputs: String?, _ targets: [String]
    ) throws(CommandFailure) -> [[String: JSONValue]] {
        guard let outputs else {
            guard !targets.isEmpty else {
                throw .usage("missing operand: write respool convert SOURCE DESTINATION")
            }
            return targets.map { ["output": .string($0)] }
        }
        guard targets.count < 2 else {
            throw .usage(
                "'\(targets[1])' and --outputs are mutually exclusive: give the locations in --outputs, or one folder for all of them"
            )
        }
        guard let elements = try? JSONDecoder().decode([[String: JSONValue]].self, from: Data(outputs.utf8)) else {
            throw .usage(#"--outputs is not a JSON list of objects: write '[{"format":"mp3"},{"format":"flac"}]'"#)
        }
        return elements
    }

    /// The folder for all outputs as typed, with a trailing slash.
    private static func folder(_ typed: String) throws(CommandFailure) -> String {
        var status = stat()
        guard stat(typed, &status) == 0 else { throw .usage("the folder '\(typed)' cannot be used: \(Errno.last)") }
        guard status.st_mode & S_IFMT == S_IFDIR else {
            throw .usage("'\(typed)' is not a folder: with --outputs, give the folder of all results, or none")
        }
        return typed.hasSuffix("/") ? typed : typed + "/"
    }

    /// The destination of an output: its own path, relative to the folder if there is one, or only the folder.
    private static func target(_ output: String?, in folder: String?) -> String? {
        guard let output, let folder, !output.hasPrefix("/") else { return output ?? folder }
        return folder + output
    }

    /// The requested format, or else the format for the file name.
    static func format(_ asked: String?, orOf name: String) throws(CommandFailure) -> String {
        if let asked { return asked }
        guard let format = AudioFormat.ofFile(extension: suffix(of: name)) else {
            throw .usage(
                "'\(SourceAddress.shown(name))' does not determine the format: "
                    + "give --format \(AudioFormat.all.map(\.name).joined(separator: "|"))"
            )
        }
        return format.name
    }

    /// Whether the file's name ends like that of a format with sound.
    static func isAudio(_ name: String) -> Bool {
        AudioFormat.ofFile(extension: suffix(of: name)).map { $0.picture == nil } ?? false
    }

    private static func suffix(of name: String) -> String {
        let last = name.split(separator: "/").last ?? ""
        return last.lastIndex(of: ".").map { last[last.index(after: $0)...].lowercased() } ?? ""
    }

    /// The path of the output: the target itself, or the source's name with the format's extension in the target folder.
    private static func destination(
        _ target: String, _ source: String, _ format: String
    ) throws(CommandFailure) -> String {
        let path = SourceAddress.isURL(target) ? target : try SourceAddress.absolutePath(target)
        var status = stat()
        let isFolder = stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
        guard isFolder || target.hasSuffix("/") else { return path }
        let name = SourceAddress.name(source)
        let stem = name.lastIndex(of: ".").map { String(name[..<$0]) } ?? name
        let ending = AudioFormat.named(format)?.fileExtension ?? format
        return "\(path.hasSuffix("/") ? path : path + "/")\(stem.isEmpty ? "output" : stem).\(ending)"
    }
}
