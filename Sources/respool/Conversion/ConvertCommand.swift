import Configuration
import Glibc
import JobSchema
import Lifecycle
import MediaTypes
import Playlists
import SlotIPC
import Slots

extension Command {
    static let convert = Command(
        "convert",
        usages: ["SOURCE DESTINATION…", "SOURCE [FOLDER] --outputs JSON", "SOURCE… --output TEMPLATE"],
        "converts on this machine, without Redis",
        details: [
            "SOURCE is a path, a URL, a pipe, or `-` for standard input. DESTINATION is a path in "
                + "an existing folder, an existing folder (with --format), a URL, or `-` for standard "
                + "output. The format follows from the destination's name unless --format is given. An "
                + "existing file is replaced once the new one is complete and checked, unless --overwrite is given.",
            "Several destinations are made from one decode. With --outputs each "
                + "has its own settings, the other options apply to all, and its `output` "
                + "is a path in FOLDER. With --atomic true, all of them are published or none.",
            "With --output, each operand is a source, and several are converted at once. TEMPLATE is a path or URL with "
                + "{stem} (the source's name without its extension), {name} and {ext}, or a folder. With --recursive, folders are "
                + "sources too: their tree is kept below the output, and files without audio are ignored. If sources fail, the "
                + "others are converted, and the exit status is 1. With --overwrite skip, sources whose output exists are not "
                + "read.",
        ],
        options: FieldOptions.conversion + [
            ConvertOptions.output, ConvertOptions.recursive, WorkerOptions.slots, ConvertOptions.spoolFolder,
            .allowHost,
            .allowOutputHost, .json,
        ],
        examples: [
            .init(
                line: "respool convert talk.flac talk.mp3 --start 5:00 --end 10:00",
                meaning: "five minutes of it, exact to the sample"),
            .init(line: "respool convert talk.flac - --format wav | aplay", meaning: "converts into a pipe"),
            .init(
                line: "respool convert talk.flac talk.mp3 talk.opus talk.m4a", meaning: "three results from one decode"),
            .init(
                line: #"respool convert talk.flac --outputs "$(cat ladder.json)""#,
                meaning: #"[{"output":"hi.mp3"},{"output":"lo.mp3","bit_rate":"48k"}]"#),
            .init(
                line: "respool convert -r music --output 'out/{stem}.mp3' --overwrite skip",
                meaning: "all files in and below a folder that are not converted yet"),
        ],
        operands: 1...Int.max, operandSuggestion: .files
    ) { arguments throws(CommandFailure) in
        if arguments.has(ConvertOptions.output) { return try await BatchConversion(arguments).run() }
        try ConvertOptions.checkSingle(arguments)
        let request = try ConversionRequest(arguments)
        // If standard output is the destination, it contains only the result.
        let isJSON = arguments.has(.json) && !request.destinations.contains(nil)
        let (reports, failure) = try await LocalConversion(request: request, isJSON: isJSON).run()
        if isJSON {
            for report in reports { StandardStream.output(JSONLine.text(report) + "\n") }
        }
        if let failure { throw failure }
        return .success
    }
}

enum ConvertOptions {
    static let output = Option(
        "output", letter: "o", value: "TEMPLATE",
        "converts each operand to a location of its own, such as 'out/{stem}.{ext}'")
    static let recursive = Option(
        "recursive", letter: "r", "with --output, also converts the files in and below folders")
    static let spoolFolder = Option(
        "spool-dir", value: "DIR",
        "folder of temporary files for a source from the network and outputs for stores and URLs",
        setting: Settings.spoolFolder, suggestion: .folders)

    /// The configuration of a local conversion. The source and output paths are granted separately.
    static func configuration(_ arguments: Arguments) throws(CommandFailure) -> SlotConfiguration {
        var configuration: SlotConfiguration
        do throws(SettingError) { configuration = try SlotConfiguration(.process) } catch {
            throw .usage(error.message)
        }
        configuration.policy.sourceRoots = []
        configuration.policy.outputRoot = nil
        let (hosts, outputHosts) = (try arguments.hosts(.allowHost), try arguments.hosts(.allowOutputHost))
        if !hosts.isEmpty { configuration.policy.allowedHosts = hosts }
        if !outputHosts.isEmpty { configuration.policy.allowedOutputHosts = outputHosts }
        if let folder = arguments.given(spoolFolder).last {
            configuration.policy.spoolFolder = try SourceAddress.absolutePath(folder)
        }
        return configuration
    }

    /// Creates the own spool folder if it will be used: local files are read and written in place. `nil` is a source that is a URL, or
    /// an output that is not a file.
    static func createSpoolFolder(
        _ policy: TransferPolicy, sources: [String?], outputs: [String?] = []
    ) throws(CommandFailure) {
        guard outputs.contains(where: { $0.map(SourceAddress.isURL) ?? true }) || sources.contains(where: isSpooled)
        else {
            return
        }
        do throws(SettingError) { try policy.createOwnSpoolFolder() } catch { throw .usage(error.message) }
    }

    /// Whether a source is no file, or a playlist, whose segments are spooled.
    private static func isSpooled(_ path: String?) -> Bool {
        var status = stat()
        guard let path, stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return true }
        let number = open(path, O_RDONLY | O_CLOEXEC)
        guard number >= 0 else { return false }
        let file = Descriptor(owning: number)
        var head = [UInt8](repeating: 0, count: PlaylistMark.length)
        let count = read(file.number, &head, head.count)
        return PlaylistMark.begins(head.prefix(max(0, count)))
    }
}

extension ConvertOptions {
    /// The largest number of operands without `--output`: a source and its outputs.
    private static let maxOperands = 33

    /// Throws if options or operands are given that only `--output` allows.
    static func checkSingle(_ arguments: Arguments) throws(CommandFailure) {
        for option in [recursive, WorkerOptions.slots] where arguments.has(option) {
            throw .usage(
                "--\(option.name) requires --output: write respool convert SOURCE… --output 'out/{stem}.{ext}'")
        }
        guard arguments.operands.count <= maxOperands else {
            throw .usage(
                "unexpected operand '\(arguments.operands[maxOperands])': one source has at most \(maxOperands - 1) destinations; "
                    + "for several sources, give --output")
        }
    }

    /// The folder of an HLS playlist. Its segments may be read too, if they are in or below this folder.
    static func playlistFolder(_ path: String?) -> String? {
        guard let path, path.lowercased().hasSuffix(".m3u8"), let slash = path.lastIndex(of: "/") else { return nil }
        return slash == path.startIndex ? "/" : String(path[..<slash])
    }
}

extension Arguments {
    /// The validated hosts from the option.
    func hosts(_ option: Option) throws(CommandFailure) -> [String] {
        let hosts = given(option)
        for host in hosts {
            do throws(SettingError) { try AllowedHost.check(host, from: "--\(option.name)") } catch {
                throw .usage(error.message)
            }
        }
        return hosts
    }
}

/// The validated request of `convert`.
struct ConversionRequest: Sendable {
    let spec: JobSpec
    /// As typed.
    let source: String
    /// Absolute paths; `nil` for standard output.
    let destinations: [String?]
    let configuration: SlotConfiguration
    private let input: PipedInput?

    init(_ arguments: Arguments) throws(CommandFailure) {
        source = arguments.operands[0]
        let outputs = try LocalOutputs(arguments)
        guard !outputs.destinations.contains(nil) || isatty(STDOUT_FILENO) == 0 else {
            throw .usage("standard output is a terminal: give a file, or write to a pipe")
        }
        var fields = outputs.fields
        fields["source"] = source == "-" ? "file:///dev/stdin" : try SourceAddress.url(source)
        let spec: JobSpec
        do throws(Failure) { spec = try JobSpec(fields: fields) } catch { throw .usage(error) }
        var configuration = try ConvertOptions.configuration(arguments)
        try ConvertOptions.createSpoolFolder(
            configuration.policy, sources: [SourceAddress.path(ofFileURL: spec.sourceURL)],
            outputs: outputs.destinations)
        // Opened last, after everything else is validated.
        if let input = try PipedInput.open(source, configuration.policy) {
            self.input = input
            fields["source"] = "file://" + input.sourcePath
            do throws(Failure) { self.spec = try JobSpec(fields: fields) } catch { throw .usage(error) }
        } else {
            (input, self.spec) = (nil, spec)
        }
        destinations = outputs.destinations
        let path = input?.path ?? SourceAddress.path(ofFileURL: self.spec.sourceURL)
        for (target, destination) in zip(outputs.targets, destinations) {
            if let path, let destination, Self.isSameFile(path, destination) {
                throw .usage("'\(target)' is the source itself: name another destination")
            }
        }
        configuration.policy.grantedSource = input?.sourcePath ?? path
        configuration.sourceDescriptor = input?.descriptor
        configuration.policy.sourceRoots = ConvertOptions.playlistFolder(path).map { [$0] } ?? []
        configuration.policy.grantedOutputs = destinations.compactMap { $0 }.filter { !SourceAddress.isURL($0) }
        self.configuration = configuration
    }

    private static func isSameFile(_ left: String, _ right: String) -> Bool {
        var (one, other) = (stat(), stat())
        guard stat(left, &one) == 0, stat(right, &other) == 0 else { return false }
        return (one.st_dev, one.st_ino) == (other.st_dev, other.st_ino)
    }
}
