import JobSchema
import Jobs

extension Schema {
    /// The schemas of what is listed.
    static let listComponents: [String: JSONValue] = [
        "Group": object([
            "group": string, "sealed": boolean, "total": integer, "completed": integer, "failed": integer,
            "cancelled": integer, "left": integer, "waiting": integer, "delayed": integer, "running": integer,
            "audio": number, "jobs_per_second": number, "audio_per_second": number, "eta": nullable("number"),
            "created_at": instant, "started_at": nullable(instant), "finished_at": nullable(instant),
        ]),
        "Worker": object([
            "name": string, "host": string, "slots": integer, "version": string, "jobs": array(string),
            "silence": nullable("number"), "quiet": boolean, "url_outputs": boolean,
        ]),
        "Schedule": object([
            "name": string, "cron": string, "time_zone": string, "next_at": nullable(instant),
            "last_at": nullable(instant), "upcoming": array(instant), "job": nullable("string"),
            "source": nullable("string"), "format": nullable("string"),
        ]),
        "ScheduleFields": [
            "type": "object", "required": ["cron", "fields"], "additionalProperties": false,
            "properties": [
                "cron": [
                    "type": "string", "pattern": .string(cronPattern),
                    "description": "minute, hour, day of the month, month and day of the week, or @daily and others",
                ],
                "time_zone": [
                    "type": "string", "pattern": "^[A-Za-z0-9_+-]+(/[A-Za-z0-9_+-]+)*$",
                    "description": "the IANA name of the time zone; UTC if it is not given",
                ],
                "fields": named("JobFields"),
            ],
        ],
        "Limit": object([
            "key": nullable("string"), "limit": nullable("integer"), "rate": nullable("integer"),
            "running": nullable("integer"), "waiting": nullable("integer"),
        ]),
        "Callback": object([
            "id": string, "type": string, "job": nullable("string"), "group": nullable("string"), "url": string,
            "state": word(CallbackRecord.State.allCases.map(\.rawValue)), "attempt": integer, "created_at": instant,
            "due_at": nullable(instant), "finished_at": nullable(instant), "log": array(named("CallbackAttempt")),
        ]),
        "CallbackAttempt": object([
            "at": instant, "status": nullable("integer"), "seconds": number, "message": string,
        ]),
        "ShownFields": object([
            "fields": ["type": "object", "additionalProperties": string], "hidden": array(string),
        ]),
        "Upload": object([
            "id": string, "filename": nullable("string"), "length": nullable("integer"), "offset": integer,
            "complete": boolean, "expires": instant, "source": string,
        ]),
        "Format": object([
            "format": string, "extension": string, "media_type": string, "summary": string, "codecs": array(string),
        ]),
        "Access": object([
            "name": string, "role": word(Role.allCases.map(\.rawValue)), "queues": array(string),
            "group_prefix": nullable("string"), "uploads": boolean, "downloads": boolean, "previews": boolean,
            "version": string,
        ]),
    ]

    /// Five fields, or an alias; names of months and days are checked later.
    private static let cronPattern =
        "^(@(hourly|daily|midnight|weekly|monthly|yearly|annually)|[0-9*/,-]+ [0-9*/,-]+ [0-9*/,-]+ [A-Za-z0-9*/,-]+ [A-Za-z0-9*/,-]+)$"
}
