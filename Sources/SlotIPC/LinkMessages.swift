package import JobSchema
package import MediaTypes

/// The requests from `respool-transcode` to `respool-transfer` over the link.
package enum LinkRequest: Codable, Sendable {
    /// Opens the job's source. The reply is `opened` with a descriptor, or `refused`.
    case open
    /// Opens a file that a playlist references, possibly by a relative URL. The source itself has the number 0, and an
    /// empty reference is the playlist itself again. The reply is `openedWhole` with a descriptor once the file is
    /// complete, or `refused`.
    case openNested(String, within: Int, as: NestedReference)
    /// Announces a file that will be opened soon, so that it can be fetched in advance. There is no reply.
    case expect(String, within: Int, as: NestedReference)
    /// An unnamed file for temporary bytes. The reply is `scratch` with a descriptor, or `refused`.
    case scratch
    /// The titles of a radio stream since the last request. The reply is `titles`.
    case titles
    /// Requests the bytes from `offset`. The reply is `have` once the byte at `offset` is available, or `refused`.
    case need(offset: Int64)
    /// Requests a file for an output, which can be read back: its main file, or an additional one, for which `part` is
    /// appended to the stem of the main file's name. The reply is `stage` with a descriptor, or `refused`.
    case stage(output: Int, part: String?)
    /// The main file of an output is written, and its writable descriptor is closed. The reply is `sealed` with a descriptor
    /// for reading, or `refused`. The file is hashed while the transcoder checks it; `finished` or `discard` follows.
    case seal(output: Int)
    /// The file is complete; the output is complete when its main file is. There is no reply: `respool-transfer`
    /// reports to the worker.
    case finished(output: Int, part: String?)
    /// The output has failed, and its staged files may be removed. There is no reply.
    case discard(output: Int)

    /// How many bytes before the last requested ones a live stream keeps.
    package static let keptBehind: Int64 = 256 << 10
}

/// The replies of `respool-transfer`, one per request and in their order.
package enum LinkAnswer: Codable, Sendable {
    /// `available` is how many bytes from the start are already available; all of them for a local file.
    case opened(length: Int64, available: Int64)
    /// The source is a live stream, of which that many bytes from the start are already available. Bytes far before the
    /// last requested ones are discarded. A `have` without length reports that the stream has ended.
    case openedStream(available: Int64)
    case titles([StreamTitle])
    /// These bytes are available: at least the requested byte, and all that follow it without a gap.
    case have(offset: Int64, length: Int64)
    /// The final name of the file, relative to the main file's folder.
    case stage(name: String)
    case sealed
    case openedWhole(number: Int)
    case scratch
    case refused(Failure)
}

/// The kinds of files that a playlist may reference, each with separate limits.
package enum NestedReference: String, Codable, Sendable {
    case playlist, segment, key, map
}
