import FoundationEssentials
import MediaTypes
import Text

/// The fields of each output, parsed once: the job's own, or those of the elements of `outputs`.
struct OutputReaders {
    private let readers: [FieldReader]

    /// The fields of the job are the defaults for each element of `outputs`.
    init(_ job: FieldReader) {
        guard let elements = job.elements() else {
            readers = [job]
            return
        }
        readers = elements.enumerated().map { index, element in
            FieldReader(job, element.mapValues(\.field), output: Self.location(index))
        }
    }

    /// The body's value for each output.
    func map<Value>(_ body: (Int, FieldReader) -> Value) -> [Value] {
        readers.enumerated().map { body($0, $1) }
    }

    /// The location and the delivery of each output; no two outputs may have the same location.
    func destinations(_ renditions: [Rendition]) -> ([String?], [Delivery]) {
        let destinations = map { index, reader in reader.output(of: renditions[index]) }
        let deliveries = map { index, reader in reader.delivery(to: destinations[index]) }
        // The job's id and the source's name have the same value in all of them.
        let locations = destinations.enumerated().map { index, destination in
            let own = ["n": String(index), "ext": renditions[index].fileExtension]
            return destination.map { OutputTemplate.filled($0) { own[$0] } }
        }
        var seen: [String: Int] = [:]
        for (index, destination) in locations.enumerated() {
            guard let destination, !destination.hasSuffix("/") else { continue }
            guard let first = seen.updateValue(index, forKey: Self.simplified(destination)) else { continue }
            readers[index].refuse(
                "output",
                "`output` is `\(FieldReader.shown(OutputPath.redacted(destination)))`, "
                    + "which is also the location of `\(Self.location(first))`: give each output its own location")
        }
        checkChapters(locations, renditions, seen, deliveries)
        return (destinations, deliveries)
    }

    /// Refuses two outputs that would write different chapters to one file, or of which one must not replace the other's file.
    private func checkChapters(
        _ destinations: [String?], _ renditions: [Rendition], _ outputs: [String: Int], _ deliveries: [Delivery]
    ) {
        var seen: [String: Int] = [:]
        for (index, (destination, rendition)) in zip(destinations, renditions).enumerated() {
            guard let destination, !destination.hasSuffix("/"), let form = rendition.tags.chapters else { continue }
            let path = OutputPath.partName(of: Self.simplified(destination), form.partName)
            let other: Int?
            if let first = seen.updateValue(index, forKey: path) {
                // Trimming silence and another tempo move the chapters.
                let sounds = [rendition.sound, renditions[first].sound]
                let differ = sounds[0] != sounds[1] && sounds.contains { $0.trimSilence != nil || $0.tempo != nil }
                let mayReplace = [index, first].allSatisfy { deliveries[$0].overwrite == .replace }
                other = differ || !mayReplace ? first : nil
            } else {
                other = outputs[path]
            }
            guard let other else { continue }
            readers[index].refuse(
                "chapters",
                "the chapters of `\(Self.location(index))` and a file of `\(Self.location(other))` have the "
                    + "same location `\(FieldReader.shown(OutputPath.redacted(path)))`: rename one of them")
        }
    }

    private static func location(_ index: Int) -> String { "outputs[\(index)]" }

    /// The path of an output in normal form, so that different spellings compare equal.
    private static func simplified(_ output: String) -> String {
        // A key is not a path: keys that differ in a `/` name different objects.
        if OutputPath.isServed(output) || OutputPath.isObject(output) { return output }
        let path = OutputPath.isFileURL(output) ? URL(string: output)?.path(percentEncoded: false) ?? output : output
        // A URL that leaves the root is rejected when it is opened.
        guard let components = OutputPath.components(path) else { return output }
        return (path.hasPrefix("/") ? "/" : "") + components.joined(separator: "/")
    }
}

// The fields of several outputs.
extension FieldReader {
    /// The location of the output of a rendition; `nil` for the default one, and if it is refused.
    fileprivate func output(of rendition: Rendition) -> String? {
        guard let output = fields["output"] else { return nil }
        let fault = outputFault(output, rendition)
        if let fault { refuse("output", fault.message, code: fault.code) }
        return fault == nil ? output : nil
    }

    private func outputFault(_ output: String, _ rendition: Rendition) -> Failure? {
        func invalid(_ message: String) -> Failure { Failure(.invalidRequest, message) }
        guard !output.isEmpty else {
            return invalid("`output` is empty: give a path under the output root, or leave it out")
        }
        let spelled = OutputPath.isOnFileServer(output) || output.prefix(5).lowercased() == "file:"
        let name = spelled ? PercentEncoding.decoded(output) ?? output : output
        guard !name.unicodeScalars.contains(where: \.isUnprintable) else {
            return invalid(
                "`output` is `\(Self.shown(OutputPath.redacted(output)))`: it must "
                    + "not contain control characters, line separators or bidirectional controls")
        }
        if let fault = templateFault(output) { return invalid(fault) }
        let scheme = output.prefix { $0 != ":" }.lowercased()
        let isURL = output.dropFirst(scheme.count).hasPrefix("://")
        if OutputPath.isServed(output) {
            let shown = Self.shown(redactedURL(output))
            guard ServerURL.isValid(output) else {
                return invalid(
                    "`output` is `\(shown)`, which is not a valid URL: percent-encode all characters outside ASCII")
            }
            guard !OutputPath.isOnFileServer(output) || OutputPath.fileOnServer(output) != nil else {
                return invalid(
                    "`output` is `\(shown)`: on an FTP or SFTP server it must name a file, without ; ? and #")
            }
            guard !rendition.makesSeveralFiles else {
                return invalid(
                    "`output` is a URL, which takes one file, but the result has several: give a path or s3://bucket/key"
                )
            }
            return nil
        }
        if scheme == "s3", output.dropFirst(scheme.count).hasPrefix(":/") {
            // A placeholder may be replaced by a part of a key, or by the whole key.
            let filled = OutputTemplate.filled(output) { _ in "word" }
            do throws(Failure) {
                _ = try S3Object(filled.hasSuffix("/") ? filled + "name" : filled, noun: "output", shown: output)
            } catch { return error }
        }
        guard !isURL || ["file", "s3"].contains(scheme) else {
            return invalid(
                "`output` has the scheme \(Self.shown(scheme))://, which is not supported: "
                    + "give a path under the output root, s3://bucket/key, https://… or sftp://…")
        }
        // The depth of a URL's path is checked after its escapes are decoded.
        return isURL || OutputPath.components(output) != nil ? nil : OutputPath.outside(output)
    }

    /// The elements of `outputs`; `nil` if the job has one output, or if they cannot be read.
    fileprivate func elements() -> [[String: JSONValue]]? {
        guard let text = fields["outputs"] else { return nil }
        guard let list = try? JSONDecoder().decode([[String: JSONValue]].self, from: Data(text.utf8)) else {
            // The text is not shown: it may contain secrets in URLs, which cannot be located in malformed JSON.
            refuse(
                "outputs",
                #"`outputs` is not a JSON list of objects: write it as [{"format":"mp3"},{"format":"flac"}]"#)
            return []
        }
        if !(1...JobSpec.Limit.outputs).contains(list.count) {
            refuse("outputs", "`outputs` has \(list.count) outputs: it must have 1 to \(JobSpec.Limit.outputs)")
        }
        return Array(list.prefix(JobSpec.Limit.outputs))
    }
}

extension Rendition {
    /// Whether the result has additional files.
    fileprivate var makesSeveralFiles: Bool {
        AudioFormat.named(format)?.isSegmented == true || tags.chapters != nil
    }
}
