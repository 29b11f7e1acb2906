/// Why media could not be read, converted or written.
package struct MediaError: Error, Sendable {
    package let reason: Reason
    /// What was being done.
    package let operation: String
    /// What libav answered, if it was libav that failed.
    package let code: Code?
    /// One sentence for people.
    package let sentence: String
    /// Which of several outputs failed, and with it the whole; nothing where it was none of them.
    package private(set) var output: Int?

    /// What kind of failure it is, and whose.
    package enum Reason: Sendable {
        /// Nothing recognises the source's bytes.
        case unsupportedFormat
        /// The source is empty, or recognised and not decodable.
        case corruptMedia
        /// The source has no audio track.
        case noAudio
        /// The audio is encrypted.
        case protectedContent
        /// The source holds more of something than its limits allow.
        case tooLarge
        case tooLong
        /// The source ends before the length that it declares.
        case truncated
        /// The range begins after the source's end, or holds no sample.
        case invalidTimeRange
        /// The settings cannot be met for this source.
        case invalidSettings
        /// The byte source threw.
        case source(any Error)
        /// The byte store threw.
        case store(any Error)
        /// The stop flag was raised.
        case cancelled
        /// A fault of ours or of libav's.
        case `internal`
    }

    /// A libav return code.
    package struct Code: RawRepresentable, Hashable, Sendable {
        package let rawValue: CInt

        package init(rawValue: CInt) { self.rawValue = rawValue }
    }

    package init(_ reason: Reason, _ operation: String, _ sentence: String, code: Code? = nil) {
        self.reason = reason
        self.operation = operation
        self.code = code
        self.sentence = sentence
    }

    /// The same with the output that failed.
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
    /// The failure of a byte source that threw.
    package static func unreadable(_ error: any Error, _ operation: String = "read the source") -> MediaError {
        MediaError(.source(error), operation, "the source could not be read: \(error)")
    }
}
