import MediaTypes

// The fields for reading the source.
extension FieldReader {
    func source() -> String {
        guard let given = fields["source"], !given.isEmpty else {
            refuse("source", "`source` is missing: give the URL of the audio")
            return ""
        }
        // The name of a file or of an object in a store may end in a space.
        let bare = ServerURL.trimmed(given)
        let source = OutputPath.isServed(bare) ? bare : given
        let scheme = source.utf8.prefix { $0 != UInt8(ascii: ":") }
        let isURL = source.utf8.dropFirst(scheme.count).starts(with: "://".utf8)
        let isKnown = ["http", "https", "file", "s3"].contains(Substring(scheme).lowercased())
        // Whether one of the other schemes is allowed is checked by the worker.
        if !isURL || !isKnown && FileScheme(of: source) == nil {
            let rule = "it must begin with https://, http://, s3:// or file:///"
            refuse("source", "`source` is `\(Self.shown(redactedURL(source)))`: \(rule)")
        } else if OutputPath.isObject(source) {
            do throws(Failure) { _ = try S3Object(source, noun: "source") } catch { refuse("source", error.message) }
        } else if OutputPath.isServed(source), !ServerURL.hasHost(source) {
            let rule = "which has no host: give a URL as https://example.org/a.flac"
            refuse("source", "`source` is `\(Self.shown(redactedURL(source)))`, \(rule)")
        }
        return source
    }

    func sourceSettings() -> SourceSettings {
        SourceSettings(
            range: range(), track: fields["track"].flatMap(Self.track) ?? .best, damage: word("damage") ?? .fail,
            tagEncoding: fields["tag_encoding"].flatMap(TagEncoding.named), drc: number("drc"))
    }

    /// Parses the choice of a track.
    static func track(_ text: String) -> TrackChoice? {
        if let number = Int(text), (1...1000).contains(number) { return .number(number) }
        if text == "all" { return .all }
        let isLanguage =
            (2...16).contains(text.utf8.count)
            && text.utf8.allSatisfy { $0 | 0x20 > 0x60 && $0 | 0x20 < 0x7B || $0 == 0x2D }
        return isLanguage ? .language(text) : nil
    }

    private func range() -> TimeRange {
        let start = time("start") ?? .zero
        let (end, duration) = (time("end"), time("duration"))
        let reach = duration.map { start.adding($0) }
        let range = TimeRange(start: start, end: end ?? reach ?? nil)
        func refuse(_ name: String, _ message: String) {
            self.refuse(name, message, code: .invalidTimeRange)
        }
        if end != nil, duration != nil {
            refuse("end", "`end` and `duration` are mutually exclusive: give one")
        } else if let duration, reach == .some(nil) {
            let sum = "the sum of `start` (\(start)) and `duration` (\(duration))"
            refuse("duration", "\(sum) is not exact: give `end` instead of `duration`")
        } else if range.isEmpty, end != nil {
            let why = "`end` (\(fields["end"]!)) must be after `start` (\(fields["start"] ?? "0"))"
            refuse("end", "the time range is empty: \(why)")
        } else if range.isEmpty {
            refuse("duration", "the time range is empty: `duration` is 0")
        }
        return range
    }
}
