package import JobSchema
package import MediaTypes

/// What `respool-transcode` asks `respool-transfer` over the link.
package enum LinkRequest: Codable, Sendable {
    /// The job's source. Answered with `opened` and a descriptor, or `refused`.
    case open
    /// What a playlist names, which may be relative to it; the source's own number is 0, and an empty reference is the
    /// playlist itself once more. Answered with `openedWhole` and a descriptor once all of it is there, or `refused`.
    case openNested(String, within: Int, as: NestedReference)
    /// What will be opened soon and may be fetched meanwhile. Not answered.
    case expect(String, within: Int, as: NestedReference)
    /// An unnamed file to collect bytes in. Answered with `scratch` and a descriptor, or `refused`.
    case scratch
    /// The titles of a radio stream that came since they were last asked for. Answered with `titles`.
    case titles
    /// The reader wants the bytes from `offset` on. Answered with `have` once the byte at `offset` is there, or `refused`.
    case need(offset: Int64)
    /// Wants a file to write an output to, which can be read back: its main one, or another beside it, for which `part`
    /// is what follows the stem of the main one's name. Answered with `stage` and a descriptor, or `refused`.
    case stage(output: Int, part: String?)
    /// The file is complete; its output is, once its main file is. Not answered: `respool-transfer` tells the worker.
    case finished(output: Int, part: String?)
    /// The output has failed, and what is staged of it may go. Not answered.
    case discard(output: Int)

    /// How many bytes behind the last ones asked for a stream without an end keeps.
    package static let keptBehind: Int64 = 256 << 10
}

/// What `respool-transfer` answers, one answer a request and in their order.
package enum LinkAnswer: Codable, Sendable {
    /// `available` is how many bytes from the start are there already; all of them for a local file.
    case opened(length: Int64, available: Int64)
    /// The source is a stream without an end, of which so many bytes from the start are there already. Bytes that lie far
    /// behind the last ones asked for are gone; a `have` without length tells that it has ended all the same.
    case openedStream(available: Int64)
    case titles([StreamTitle])
    /// These bytes are there: at least the byte that was asked for, and all that follow it without a hole.
    case have(offset: Int64, length: Int64)
    /// The name that the file will have, relative to the main file's folder.
    case stage(name: String)
    case openedWhole(number: Int)
    case scratch
    case refused(Failure)
}

/// What a playlist may name, each kind with its own limits.
package enum NestedReference: String, Codable, Sendable {
    case playlist, segment, key, map
}
