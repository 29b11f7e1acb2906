/// The reason why media could not be read, converted or written.
package struct MediaError: Error, Sendable {
    /// The kind of the failure, by which callers decide whether they can continue.
    package let reason: Reason
    /// The failed operation.
    package let operation: String
    /// libav's return code, if libav failed.
    package let code: Code?
    /// A human-readable message of one sentence.
    package let sentence: String
    /// The index of the output that failed the whole conversion; `nil` if the failure is not an output's.
    package private(set) var output: Int?

    /// The kind and origin of a failure.
    package enum Reason: Sendable {
        /// The format of the source is not recognized.
        case unsupportedFormat
        /// The source is empty, or its format is recognized but it cannot be decoded.
        case corruptMedia
        /// The source has no audio track.
        case noAudio
        /// The audio is encrypted.
        case protectedContent
        /// The source exceeds a limit.
        case tooLarge
        case tooLong
        /// The source ends before the length that it declares.
        case truncated
        /// The range begins after the source's end, or holds no sample.
        case invalidTimeRange
        /// The settings are not supported for this source.
        case invalidSettings
        /// The `ByteSource` threw.
        case source(any Error)
        /// The `RandomAccessOutput` threw.
        case store(any Error)
        /// The stop flag was raised.
        case cancelled
        /// A bug in respool or libav.
        case `internal`
    }

    /// A libav return code.
    package struct Code: RawRepresentable, Hashable, Sendable {
        /// The negative value of `AVERROR`.
        package let rawValue: CInt

        package init(rawValue: CInt) { self.rawValue = rawValue }
    }

    package init(_ reason: Reason, _ operation: String, _ sentence: String, code: Code? = nil) {
        self.reason = reason
        self.operation = operation
        self.code = code
        self.sentence = sentence
    }

    /// The same error with the output's index.
    package func of(output index: Int) -> MediaError {
        var error = self
        error.output = index
        return error
    }
}

extension MediaError: CustomStringConvertible {
    package var description: String { sentence }
}

extension MediaError {
    /// The system has no thread that the operation needs.
    package static func noThread(_ operation: String) -> MediaError {
        MediaError(.internal, operation, "no thread could be started")
    }

    /// The error of a byte source that threw.
    package static func unreadable(_ error: any Error, _ operation: String = "read the source") -> MediaError {
        MediaError(.source(error), operation, "the source could not be read: \(error)")
    }
}
