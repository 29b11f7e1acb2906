import Glibc
import Lifecycle
import MediaTypes
import SlotProtocol
import Slots

extension Command {
    static let convert = Command(
        "convert", usages: ["SOURCE DESTINATION"], "converts one source here and now, without Redis",
        details: [
            "SOURCE is a path or a URL; DESTINATION is a path, a folder (with --format), or `-` for standard output. The "
                + "format is that of the destination's name, unless --format says otherwise. An existing file is replaced "
                + "when the new one is complete and checked, and not before."
        ],
        options: FieldOptions.conversion + [ConvertOptions.spoolFolder, .allowHost, .json],
        examples: [
            .init(
                line: "respool convert talk.flac talk.mp3 --start 5:00 --end 10:00",
                meaning: "five minutes of it, exact to the sample"),
            .init(line: "respool convert talk.flac - --format wav | aplay", meaning: "into another program"),
        ],
        operands: 2...2, operandSuggestion: .files
    ) { arguments throws(CommandFailure) in
        let request = try ConversionRequest(arguments)
        let report = try await HandConversion(request: request).run()
        // Standard output is the result's own when it is the destination.
        if arguments.has(.json), request.destination != nil { StandardStream.output(JSONLine.text(report) + "\n") }
        return .success
    }
}

enum ConvertOptions {
    static let spoolFolder = Option(
        "spool-dir", value: "DIR", "where a source from the network is kept while it is read", fallback: "/tmp",
        variable: "RESPOOL_SPOOL_DIR", suggestion: .folders)

    /// What a source named by hand may touch, but for the paths themselves.
    static func configuration(_ arguments: Arguments) throws(CommandFailure) -> SlotConfiguration {
        var configuration: SlotConfiguration
        do throws(Failure) { configuration = try .fromEnvironment() } catch { throw .usage(error.message) }
        configuration.policy.sourceRoots = []
        configuration.policy.outputRoot = nil
        let hosts = arguments.given(.allowHost)
        if !hosts.isEmpty { configuration.policy.allowedHosts = hosts }
        if let folder = arguments.given(spoolFolder).last {
            configuration.policy.spoolFolder = try SourceAddress.absolutePath(folder)
        }
        return configuration
    }
}

extension ConvertOptions {
    /// The folder of an HLS playlist: whoever names the playlist means its segments too, which lie beside or below it.
    static func playlistFolder(_ path: String?) -> String? {
        guard let path, path.lowercased().hasSuffix(".m3u8"), let slash = path.lastIndex(of: "/") else { return nil }
        return slash == path.startIndex ? "/" : String(path[..<slash])
    }
}

/// What `convert` is asked to do, all of it checked.
struct ConversionRequest: Sendable {
    let spec: JobSpec
    /// As it was typed.
    let source: String
    /// An absolute path; nothing for standard output.
    let destination: String?
    let configuration: SlotConfiguration

    init(_ arguments: Arguments) throws(CommandFailure) {
        source = arguments.operands[0]
        let target = arguments.operands[1]
        var fields = FieldOptions.fields(arguments, of: FieldOptions.conversion)
        if fields["format"] == nil { fields["format"] = try Self.format(ofName: target) }
        fields["source"] = try SourceAddress.url(source)
        let spec: JobSpec
        do throws(Failure) { spec = try JobSpec(fields: fields) } catch { throw .usage(error.message) }
        self.spec = spec
        destination = target == "-" ? nil : try Self.destination(target, source, spec.plan.renditions[0])
        let path = SourceAddress.path(ofFileURL: spec.source)
        if let path, let destination, Self.isSameFile(path, destination) {
            throw .usage("'\(target)' is the source itself: name another destination")
        }
        var configuration = try ConvertOptions.configuration(arguments)
        configuration.policy.grantedSource = path
        configuration.policy.sourceRoots = ConvertOptions.playlistFolder(path).map { [$0] } ?? []
        configuration.policy.grantedOutputs = destination.map { [$0] } ?? []
        self.configuration = configuration
    }

    private static func isSameFile(_ left: String, _ right: String) -> Bool {
        var (one, other) = (stat(), stat())
        guard stat(left, &one) == 0, stat(right, &other) == 0 else { return false }
        return (one.st_dev, one.st_ino) == (other.st_dev, other.st_ino)
    }

    private static func format(ofName name: String) throws(CommandFailure) -> String {
        let last = name.split(separator: "/").last ?? ""
        let suffix = last.lastIndex(of: ".").map { last[last.index(after: $0)...].lowercased() } ?? ""
        let alias = ["aif": "aiff", "oga": "ogg", "wave": "wav", "mp4": "m4a"][suffix] ?? suffix
        guard let format = AudioFormat.named(alias) ?? AudioFormat.all.first(where: { $0.fileExtension == alias })
        else {
            throw .usage(
                "'\(name)' does not tell the format: give --format \(AudioFormat.all.map(\.name).joined(separator: "|"))"
            )
        }
        return format.name
    }

    /// The path of the result: the target itself, or the source's name with the format's ending in a folder.
    private static func destination(
        _ target: String, _ source: String, _ rendition: Rendition
    ) throws(CommandFailure) -> String {
        let path = try SourceAddress.absolutePath(target)
        var status = stat()
        let isFolder = stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
        guard isFolder || target.hasSuffix("/") else { return path }
        let name = SourceAddress.name(source)
        let stem = name.lastIndex(of: ".").map { String(name[..<$0]) } ?? name
        let ending = AudioFormat.named(rendition.format)?.fileExtension ?? rendition.format
        return "\(path == "/" ? "" : path)/\(stem.isEmpty ? "output" : stem).\(ending)"
    }
}
