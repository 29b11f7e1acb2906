/// A file that one encoder writes, or several together.
final class MuxedFile {
    let muxer: Muxer

    init(_ muxer: consuming Muxer) { self.muxer = muxer }
}
