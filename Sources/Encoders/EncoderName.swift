import Libav
package import MediaTypes

// The names of libav's encoders, from the table of codecs.
extension AudioCodec {
    /// The name of libav's encoder.
    package func encoderName(_ stored: SampleFormat?, _ order: SampleFormat.ByteOrder) -> String {
        switch encoder {
        case .named(let name): name
        case .ofSamples(let prefix): prefix + stored!.libavName(order)
        }
    }
}

extension SampleFormat {
    /// libav's name of the sample format. The byte order applies if the format does not specify one.
    package func libavName(_ order: ByteOrder) -> String {
        bits > 8 ? base.rawValue + ((byteOrder ?? order) == .little ? "le" : "be") : rawValue
    }
}
