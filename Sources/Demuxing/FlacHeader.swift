package import Bytes
package import CLibav
import Libav
package import Lifecycle
import Text

/// The properties of samples in a FLAC stream's STREAMINFO (RFC 9639, 8.2).
package struct FlacHeader {
    /// Bits of a sample.
    package let bits: Int
    /// Samples of each channel; `nil` if not declared.
    let samples: Int64?
    /// Samples of the largest block.
    let blockSamples: Int
    /// Bytes of the largest frame; zero if not declared.
    let maxFrameBytes: Int
    /// The MD5 of all samples; `nil` if not declared.
    let digest: [UInt8]?

    /// The MD5 of all samples in hexadecimal; `nil` if not declared.
    package var md5: String? { digest?.hexadecimal }

    /// Reads libav's extradata, which is only STREAMINFO in every container; `nil` if the stream is not FLAC.
    package init?(_ stream: UnsafeMutablePointer<AVStream>) {
        let parameters = stream.pointee.codecpar.pointee
        guard parameters.codec_id == AV_CODEC_ID_FLAC, parameters.extradata_size >= Self.size,
            let start = parameters.extradata
        else { return nil }
        self.init(UnsafeBufferPointer(start: start, count: Self.size))
    }

    /// The bytes of STREAMINFO.
    package static let size = 34

    /// Reads STREAMINFO, which must have `size` bytes.
    package init(_ bytes: UnsafeBufferPointer<UInt8>) {
        bits = (Int(bytes[12] & 1) << 4 | Int(bytes[13] >> 4)) + 1
        let count = bytes[14..<18].reduce(Int64(bytes[13] & 15)) { $0 << 8 | Int64($1) }
        samples = count == 0 ? nil : count
        blockSamples = Int(bytes[2]) << 8 | Int(bytes[3])
        maxFrameBytes = bytes[7..<10].reduce(0) { $0 << 8 | Int($1) }
        let hash = Array(bytes[18..<34])
        digest = hash.allSatisfy { $0 == 0 } ? nil : hash
    }

    /// The MD5 that a finished file declares for its samples, in hexadecimal; `nil` if there is none.
    package static func md5(
        in store: any RandomAccessOutput, as demuxer: String?, stop: CancellationFlag
    ) throws(MediaError) -> String? {
        let demuxer = try Demuxer.open(StoredSource(store), as: demuxer, stop: stop)
        guard let track = demuxer.tracks.first else { return nil }
        return FlacHeader(demuxer.stream(track.index))?.md5
    }
}
