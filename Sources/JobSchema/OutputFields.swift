import FoundationEssentials
import MediaTypes
import Text

/// The fields of each output, parsed once: the job's own, or those of the elements of `outputs`.
struct OutputReaders {
    private let readers: [FieldReader]
    /// Whether a failure must name the output.
    private let isList: Bool

    /// The fields of the job are the defaults for each element.
    init(_ job: FieldReader) throws(Failure) {
        isList = job.fields["outputs"] != nil
        guard isList else {
            readers = [job]
            return
        }
        var readers: [FieldReader] = []
        for (index, element) in try job.elements().enumerated() {
            do throws(Failure) { readers.append(try job.output(of: element)) } catch {
                throw error.located(in: Self.location(index))
            }
        }
        self.readers = readers
    }

    /// The body's value for each output; a failure names the output.
    func map<Value>(_ body: (Int, FieldReader) throws(Failure) -> Value) throws(Failure) -> [Value] {
        var values: [Value] = []
        for (index, reader) in readers.enumerated() {
            do throws(Failure) { values.append(try body(index, reader)) } catch {
                throw isList ? error.located(in: Self.location(index)) : error
            }
        }
        return values
    }

    /// The location and the delivery of each output; no two outputs may have the same location.
    func destinations(_ renditions: [Rendition]) throws(Failure) -> ([String?], [Delivery]) {
        let destinations = try map { index, reader throws(Failure) in try reader.output(of: renditions[index]) }
        let deliveries = try map { index, reader throws(Failure) in try reader.delivery(to: destinations[index]) }
        // The job's id and the source's name have the same value in all of them.
        let locations = destinations.enumerated().map { index, destination in
            let own = ["n": String(index), "ext": renditions[index].fileExtension]
            return destination.map { OutputTemplate.filled($0) { own[$0] } }
        }
        var seen: [String: Int] = [:]
        for (index, destination) in locations.enumerated() {
            guard let destination, !destination.hasSuffix("/") else { continue }
            guard let first = seen.updateValue(index, forKey: Self.simplified(destination)) else { continue }
            throw FieldReader.invalid(
                "`\(Self.location(index)).output` is `\(FieldReader.shown(OutputPath.redacted(destination)))`, "
                    + "which is also the location of `\(Self.location(first))`: give each output its own location")
        }
        try Self.checkChapters(locations, renditions, seen, deliveries)
        return (destinations, deliveries)
    }

    /// Throws if two outputs would write different chapters to one file, or if one must not replace the other's file.
    private static func checkChapters(
        _ destinations: [String?], _ renditions: [Rendition], _ outputs: [String: Int], _ deliveries: [Delivery]
    ) throws(Failure) {
        var seen: [String: Int] = [:]
        for (index, (destination, rendition)) in zip(destinations, renditions).enumerated() {
            guard let destination, !destination.hasSuffix("/"), let form = rendition.tags.chapters else { continue }
            let path = OutputPath.partName(of: simplified(destination), form.partName)
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
            throw FieldReader.invalid(
                "the chapters of `\(location(index))` and a file of `\(location(other))` have the "
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
    /// The location of the output of a rendition.
    fileprivate func output(of rendition: Rendition) throws(Failure) -> String? {
        guard let output = fields["output"] else { return nil }
        guard !output.isEmpty else {
            throw Self.invalid("`output` is empty: give a path under the output root, or leave it out")
        }
        let spelled = OutputPath.isOnFileServer(output) || output.prefix(5).lowercased() == "file:"
        let name = spelled ? PercentEncoding.decoded(output) ?? output : output
        guard !name.unicodeScalars.contains(where: \.isUnprintable) else {
            throw Self.invalid(
                "`output` is `\(Self.shown(OutputPath.redacted(output)))`: it must "
                    + "not contain control characters, line separators or bidirectional controls")
        }
        try checkTemplate(output)
        let scheme = output.prefix { $0 != ":" }.lowercased()
        let isURL = output.dropFirst(scheme.count).hasPrefix("://")
        if OutputPath.isServed(output) {
            guard ServerURL.isValid(output) else {
                throw Self.invalid(
                    "`output` is `\(Self.shown(redactedURL(output)))`, which "
                        + "is not a valid URL: percent-encode all characters outside ASCII"
                )
            }
            guard !OutputPath.isOnFileServer(output) || OutputPath.fileOnServer(output) != nil else {
                throw Self.invalid(
                    "`output` is `\(Self.shown(redactedURL(output)))`: on an FTP or SFTP server it must name a file, without ; ? and #"
                )
            }
            guard !rendition.makesSeveralFiles else {
                throw Self.invalid(
                    "`output` is a URL, which takes one file, but the result has several: give a path or s3://bucket/key"
                )
            }
            return output
        }
        if scheme == "s3", output.dropFirst(scheme.count).hasPrefix(":/") {
            // A placeholder may be replaced by a part of a key, or by the whole key.
            let filled = OutputTemplate.filled(output) { _ in "word" }
            _ = try S3Object(filled.hasSuffix("/") ? filled + "name" : filled, noun: "output", shown: output)
        }
        guard !isURL || ["file", "s3"].contains(scheme) else {
            throw Self.invalid(
                "`output` has the scheme \(Self.shown(scheme))://, which is not supported: "
                    + "give a path under the output root, s3://bucket/key, https://… or sftp://…")
        }
        // The depth of a URL's path is checked after its escapes are decoded.
        guard isURL || OutputPath.components(output) != nil else { throw OutputPath.outside(output) }
        return output
    }

    /// Whether the outputs are published only if all of them succeed.
    func isAtomic() throws(Failure) -> Bool {
        guard let text = fields["atomic"] else { return false }
        guard let value = Bool(text) else { throw wrong("atomic", "true or false") }
        return value
    }

    fileprivate func elements() throws(Failure) -> [[String: JSONValue]] {
        let text = fields["outputs"]!
        guard let list = try? JSONDecoder().decode([[String: JSONValue]].self, from: Data(text.utf8)) else {
            // The text is not shown: it may contain secrets in URLs, which cannot be located in malformed JSON.
            throw Self.invalid(
                #"`outputs` is not a JSON list of objects: write it as [{"format":"mp3"},{"format":"flac"}]"#)
        }
        guard (1...JobSpec.Limit.outputs).contains(list.count) else {
            throw Self.invalid("`outputs` has \(list.count) outputs: it must have 1 to \(JobSpec.Limit.outputs)")
        }
        return list
    }

    /// The fields of one output: the job's own, replaced by those of the element; `null` removes one of the job's.
    fileprivate func output(of element: [String: JSONValue]) throws(Failure) -> FieldReader {
        var fields = fields.filter { JobField.named($0)?.isOfOutput == true }
        for (name, value) in element.sorted(by: { $0.key < $1.key }) {
            if let field = JobField.named(name), !field.isOfOutput {
                throw Self.invalid("`\(name)` applies to all outputs: give it beside `outputs`, not inside")
            }
            fields[name] = value.field
        }
        return try FieldReader(fields)
    }
}

extension Failure {
    /// The failure of one of several outputs; a field at the start of the message is shown as that output's.
    fileprivate func located(in location: String) -> Failure {
        let name = message.dropFirst().prefix { $0 != "`" }
        let isOfField = message.hasPrefix("`") && JobField.named(String(name)) != nil
        return Failure(
            code, isOfField ? "`\(location).\(message.dropFirst())" : "`\(location)`: \(message)", retryable: retryable,
            retryAfter: retryAfter)
    }
}

extension Rendition {
    /// Whether the result has additional files.
    fileprivate var makesSeveralFiles: Bool {
        AudioFormat.named(format)?.isSegmented == true || tags.chapters != nil
    }
}
