/// A file that is written by one or several encoders.
package final class MuxedFile {
    /// libav's muxer, which all encoders of the file share.
    package let muxer: Muxer

    /// Takes ownership of an opened muxer.
    package init(_ muxer: consuming Muxer) { self.muxer = muxer }
}
