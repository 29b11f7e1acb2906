/// A file that one encoder writes, or several together.
package final class MuxedFile {
    package let muxer: Muxer

    package init(_ muxer: consuming Muxer) { self.muxer = muxer }
}
