package import Bytes
package import Libav
package import MediaTypes

/// A step of what happens to samples between decoder and encoder.
///
/// It passes on samples in their order: those of a frame when it has enough, and the rest at the end. It does not change the frame that it is
/// given, unless a stage before it has made planar floats: these are nobody else's.
package protocol SoundStage: AnyObject {
    /// The shape of the samples that are passed on.
    var output: SampleShape { get }
    /// Passes the processed samples of a frame to the body.
    func append(_ frame: borrowing Frame, _ body: FrameBody) throws(MediaError)
    /// Passes on what is still held.
    func finish(_ body: FrameBody) throws(MediaError)
    /// The settings that were chosen or derived here, by job field name.
    var effective: [String: Setting] { get }
    /// What was done to samples that a user should know.
    var warnings: [Warning] { get }
}

extension SoundStage {
    package func finish(_ body: FrameBody) throws(MediaError) {}
    package var effective: [String: Setting] { [:] }
    package var warnings: [Warning] { [] }
}

extension [any SoundStage] {
    /// Passes a frame through all stages, or those from an index on.
    package func append(_ frame: borrowing Frame, from index: Int = 0, _ body: FrameBody) throws(MediaError) {
        guard index < count else { return try body(frame) }
        try self[index].append(frame) { (changed: borrowing Frame) throws(MediaError) in
            try append(changed, from: index + 1, body)
        }
    }

    /// Ends each stage, and passes what it still held through those after it.
    package func finish(_ body: FrameBody) throws(MediaError) {
        for (index, stage) in enumerated() {
            try stage.finish { (rest: borrowing Frame) throws(MediaError) in try append(rest, from: index + 1, body) }
        }
    }
}
