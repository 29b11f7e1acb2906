package import Lifecycle
package import MediaTypes

/// One pass from a source's audio to a finished file.
package enum Conversion {
    /// Converts a range of a source and checks the result; blocks, and reports on the calling thread at most ten times a second.
    package static func run(
        source: any ByteSource, store: any ByteStore, rendition: Rendition, range: TimeRange, stop: StopFlag,
        progress: (ConversionProgress) -> Void
    ) throws(MediaError) -> ConversionResult {
        throw MediaError(.internal, "convert", "conversion is not written yet")
    }
}
