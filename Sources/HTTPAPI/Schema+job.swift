import JobSchema
import Jobs
import MediaTypes

extension Schema {
    /// The schemas of jobs and their outputs.
    static let jobComponents: [String: JSONValue] = [
        "JobState": word(JobState.allCases.map(\.rawValue)), "Phase": word(Phase.allCases.map(\.rawValue)),
        "ErrorCode": word(ErrorCode.allCases.map(\.rawValue)),
        "Job": job, "Attempt": attempt, "JobError": jobError,
        "WrongField": object(["field": string, "message": string]), "Output": output, "OutputError": outputError,
        "OutputProgress": object([
            "phase": word(OutputProgress.Phase.allCases.map(\.rawValue)), "progress": number,
        ]),
        "PushedJob": object(["id": string, "duplicate": boolean]),
        "PushedJobs": object(["jobs": array(named("PushedJob"))]),
        "Jobs": [
            "type": "object", "required": ["jobs"], "additionalProperties": false,
            "properties": [
                "jobs": [
                    "type": "array", "items": named("JobFields"), "minItems": 1,
                    "maxItems": .integer(Int64(Route.maxJobs)),
                ]
            ],
        ],
        "Setting": setting, "Warning": object(["code": string, "message": string]),
        "Gapless": object(["start": integer, "end": integer]),
        "Damage": object(["seconds": number, "events": integer]),
        "Loudness": loudness,
        "LoudnessChange": object(["before": named("Loudness"), "gain": number, "after": named("Loudness")]),
        "Encoders": object(["segments": integer, "joints": integer, "fallbacks": integer]),
        "OutputPart": object(["name": string, "bytes": integer, "sha256": string]),
        "OutputParts": object(["count": integer, "bytes": integer, "files": array(named("OutputPart"))]),
        "TimedTitle": object(["time": number, "title": string]),
        "JobList": object([
            "jobs": array(named("Job")), "next": nullable("string"), "scanned": integer,
        ]),
    ]

    /// The JSON form of a job, as `respool status --json` prints it.
    private static let job = object([
        "id": string, "state": named("JobState"), "phase": nullable(named("Phase")),
        "progress": nullable("number"), "position": nullable("number"), "duration": nullable("number"),
        "speed": nullable("number"), "estimated": boolean, "eta": nullable("number"), "attempt": integer,
        "attempts": integer, "crashes": integer, "priority": string, "group": nullable("string"),
        "source": nullable("string"), "format": nullable("string"), "worker": nullable("string"),
        "created_at": instant, "started_at": nullable(instant), "finished_at": nullable(instant),
        "due_at": nullable(instant), "output_progress": nullable(array(named("OutputProgress"))),
        "outputs": nullable(array(named("Output"))), "attempts_history": array(named("Attempt")),
        "traceparent": nullable("string"),
        "error": nullable(named("JobError")),
    ])

    private static let attempt = object([
        "attempt": integer, "worker": string, "started_at": instant, "ended_at": nullable(instant),
        "outcome": nullable("string"), "code": nullable(named("ErrorCode")),
    ])

    private static let jobError = object([
        "code": named("ErrorCode"), "message": string, "retryable": boolean,
        "fields": nullable(array(named("WrongField"))),
    ])

    private static let outputError = object(
        [
            "code": named("ErrorCode"), "message": string, "retryable": boolean,
            "retry_after": number,
        ], optional: ["retry_after"])

    /// The report of an output. What it says of a file is null if there is none.
    private static let output = object(
        [
            "url": string, "format": string, "codec": nullable("string"), "bytes": nullable("integer"),
            "duration": nullable("number"), "sample_rate": nullable("integer"), "channels": nullable("integer"),
            "bit_rate": nullable("integer"), "sha256": nullable("string"), "copied": nullable("boolean"),
            "gapless": nullable(named("Gapless")), "damage": nullable(named("Damage")),
            "settings": nullable(["type": "object", "additionalProperties": named("Setting")]),
            "warnings": array(named("Warning")), "loudness": nullable(named("LoudnessChange")),
            "audio_md5": nullable("string"), "encoders": nullable(named("Encoders")), "etag": nullable("string"),
            "parts": nullable(named("OutputParts")), "titles": array(named("TimedTitle")),
            "error": nullable(named("OutputError")),
        ], optional: ["titles"])

    private static let setting = object(
        ["requested": ["type": ["string", "number"]], "effective": ["type": ["string", "number"]]],
        optional: ["requested"])

    private static let loudness: JSONValue = {
        let names = ["integrated", "range", "true_peak", "sample_peak", "momentary"]
        return object(Dictionary(uniqueKeysWithValues: names.map { ($0, number) }), optional: names)
    }()
}
