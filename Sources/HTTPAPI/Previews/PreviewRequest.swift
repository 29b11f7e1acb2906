import JobSchema
import MediaTypes

/// What a request for a preview asks for.
struct PreviewRequest: RequestBody {
    let kind: Kind
    let subject: Subject
    /// The fields that describe the result.
    let settings: [String: String]

    /// What is made of the sound.
    enum Kind: String, CaseIterable, Sendable {
        case audio, peaks, spectrogram

        /// Every browser plays the format of audio.
        var format: AudioFormat { AudioFormat.named(self == .audio ? AudioFormat.ID.opus.rawValue : rawValue)! }
        var fileExtension: String { self == .peaks ? PictureSettings.PeaksForm.json.rawValue : format.fileExtension }
    }

    /// Whose sound it is.
    enum Subject: Sendable {
        /// A source before it is pushed, with its range.
        case source([String: String])
        /// The source and the range of a job.
        case sourceOfJob(String)
        case outputOfJob(String, Int)
    }

    /// The numbers of points of peaks.
    static let points = 100...PictureSettings.points.upperBound

    static let schema: JSONValue = [
        "type": "object", "required": ["kind"],
        "properties": [
            "kind": Schema.word(Kind.allCases.map(\.rawValue)),
            "points": Parameter("points", .whole(points), "").schema,
            "size": ["type": "string"],
        ],
    ]

    static let documentedSchema: JSONValue = [
        "oneOf": .array(["PreviewOfSource", "PreviewOfJobSource", "PreviewOfOutput"].map(Schema.named))
    ]

    init(_ members: [String: JSONValue]) throws(Problem) {
        kind = Kind(rawValue: members["kind"]?.field ?? "")!
        subject = try Self.subject(members)
        settings = try Self.settings(kind, members)
    }

    private static func subject(_ members: [String: JSONValue]) throws(Problem) -> Subject {
        guard members["job"] != nil else {
            guard members["source"] != nil else { throw wrong("", "give either `job` or `source`") }
            try check(members, ["source", "start", "end"])
            let fields = try FieldText.fields(
                .object(members.filter { ["source", "start", "end"].contains($0.key) }), at: "")
            return .source(fields)
        }
        guard case .string(let id)? = members["job"], Route.id.accepts(id) else {
            throw wrong("/job", "`job` must be the id of a job: \(Route.id.expected)")
        }
        switch members["of"] {
        case .string("source"):
            try check(members, ["job", "of"])
            return .sourceOfJob(id)
        case .string("output"):
            try check(members, ["job", "of", "output"])
            guard case .integer(let number) = members["output"] ?? 0,
                Route.outputNumbers.contains(Int(clamping: number))
            else { throw wrong("/output", "`output` must be the number of an output, from 0") }
            return .outputOfJob(id, Int(number))
        default: throw wrong("/of", "`of` must be source or output")
        }
    }

    /// Refuses members that the form does not have. Those of pictures are ignored for another kind.
    private static func check(_ members: [String: JSONValue], _ names: [String]) throws(Problem) {
        let known = names + ["kind", "points", "size"]
        guard let other = members.keys.sorted().first(where: { !known.contains($0) }) else { return }
        throw wrong(
            "/\(FieldText.escaped(other))",
            "`\(FieldText.shown(other))` does not belong here: give \(known.joined(separator: ", "))")
    }

    private static func settings(_ kind: Kind, _ members: [String: JSONValue]) throws(Problem) -> [String: String] {
        let size = members["size"]?.field ?? "1024x256"
        guard PictureSize(parsing: size).map({ !$0.isEmpty && $0.fits(in: Self.largest) }) == true else {
            throw wrong("/size", "`size` must be width and height in pixels up to \(Self.largest)")
        }
        let fields =
            switch kind {
            case .audio: ["bit_rate": "96k"]
            case .peaks: ["peaks_format": "json", "points": members["points"]?.field ?? "1200"]
            case .spectrogram: ["size": size]
            }
        return fields.merging(["format": kind.format.name]) { $1 }
    }

    private static let largest = Kind.spectrogram.format.pictureSizes!.largest

    private static func wrong(_ pointer: String, _ message: String) -> Problem {
        .wrong([.init(pointer, message)])
    }
}
