/// A file that is written by one or several encoders.
package final class MuxedFile {
    package let muxer: Muxer

    package init(_ muxer: consuming Muxer) { self.muxer = muxer }
}
