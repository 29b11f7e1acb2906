import Bytes
import CLibav
import Containers
import Libav

/// Explains why libav did not open a container.
enum Refusal {
    /// The error: the codec or the variant is not supported, or the source is invalid or truncated.
    static func error(
        _ bytes: any ByteSource, _ format: UnsafePointer<AVInputFormat>, _ descriptor: ContainerDescriptor,
        _ code: MediaError.Code, _ operation: String
    ) throws(MediaError) -> MediaError {
        let name = String(cString: format.pointee.name)
        do {
            if let sentence = try UnreadFormat.sentence(bytes) {
                return MediaError(.unsupportedFormat, operation, sentence, code: code)
            }
            let container = Container(demuxer: name) ?? .generic
            if try code.isUnimplemented || isUnknownCodec(bytes, format, container, code) {
                let codec = try DeclaredCodec.name(bytes, container).map { "with the codec \($0)" } ?? "of a variant"
                let sentence = "the source is \(name) \(codec) that is not supported"
                return MediaError(.unsupportedFormat, operation, sentence, code: code)
            }
        } catch { throw .unreadable(error, operation) }
        let error = MediaError(
            .corruptMedia, operation, "the source is detected as \(name), but cannot be opened: \(code)", code: code)
        let explained = try Truncation.explain(error, bytes, descriptor)
        guard case .corruptMedia = explained.reason, Container(demuxer: name) == .mp4 else { return explained }
        do {
            return try Extent.missingIndex(SourceBytes(bytes)).map { Truncation.failure($0) } ?? explained
        } catch { throw .unreadable(error, operation) }
    }

    /// Whether the header declares a codec that libav's demuxer takes for an invalid one.
    private static func isUnknownCodec(
        _ bytes: any ByteSource, _ format: UnsafePointer<AVInputFormat>, _ container: Container, _ code: MediaError.Code
    ) throws -> Bool {
        switch container {
        case .aiff:
            guard let type = try DeclaredCodec.compression(bytes) else { return false }
            let tag = type.reversed().reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
            return av_codec_get_id(format.pointee.codec_tag, tag) == AV_CODEC_ID_NONE
        // It reads all pages in search of a stream that it knows.
        case .ogg:
            guard code == .endOfFile, let name = try DeclaredCodec.name(bytes, container) else { return false }
            return !oggCodecs.contains { name.contains($0) }
        default: return false
        }
    }

    /// The first letters of the marks of the codecs that libav reads in Ogg.
    private static let oggCodecs = ["vorb", "Opus", "FLAC", "fLaC", "Spee", "audi", "vide", "theo"]
}
