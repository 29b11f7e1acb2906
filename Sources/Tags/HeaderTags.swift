package import Bytes
package import CLibav
import Libav

/// The tags that a muxer receives before it writes its header.
package struct HeaderTags: Sendable {
    /// Entries of the container and of the stream.
    var entries: [(name: String, value: String)] = []
    var streamEntries: [(name: String, value: String)] = []
    /// Options of the muxer.
    package var options: [(String, String)] = []
    /// Bytes to write before the muxer's output.
    package var prefix: [UInt8] = []
    /// Bytes of padding after the header's blocks.
    var padding: Int?
    var chapters: [Metadata.Chapter] = []
    var attachments: [Metadata.Picture] = []
    /// Whether libav must not write its own name.
    var isAnonymous = false

    /// Applies the tags to a muxer with an audio stream, and writes the prefix.
    package func apply(
        to context: UnsafeMutablePointer<AVFormatContext>, _ stream: UnsafeMutablePointer<AVStream>
    ) throws(MediaError) {
        for (name, value) in entries { av_dict_set(&context.pointee.metadata, name, value, 0) }
        for (name, value) in streamEntries { av_dict_set(&stream.pointee.metadata, name, value, 0) }
        if let padding { av_opt_set_int(context, "metadata_header_padding", Int64(padding), 0) }
        if isAnonymous { context.pointee.flags |= AVFMT_FLAG_BITEXACT }
        if !chapters.isEmpty { try addChapters(to: context) }
        for (index, picture) in attachments.enumerated() { try attach(picture, index, to: context) }
        if !prefix.isEmpty { avio_write(context.pointee.pb, prefix, CInt(prefix.count)) }
    }

    /// The context owns the list and its elements, and frees them.
    private func addChapters(to context: UnsafeMutablePointer<AVFormatContext>) throws(MediaError) {
        let size = MemoryLayout<UnsafeMutablePointer<AVChapter>?>.stride
        guard let list = av_calloc(chapters.count, size) else { throw .outOfMemory("write the chapters") }
        context.pointee.chapters = list.assumingMemoryBound(to: UnsafeMutablePointer<AVChapter>?.self)
        for (index, chapter) in chapters.enumerated() {
            guard let memory = av_mallocz(MemoryLayout<AVChapter>.size) else {
                throw .outOfMemory("write the chapters")
            }
            let own = memory.assumingMemoryBound(to: AVChapter.self)
            own.pointee.id = Int64(index + 1)
            own.pointee.time_base = AVRational(num: 1, den: 1_000_000_000)
            (own.pointee.start, own.pointee.end) = (chapter.start, chapter.end)
            av_dict_set(&own.pointee.metadata, "title", chapter.title, 0)
            context.pointee.chapters[index] = own
            context.pointee.nb_chapters += 1
        }
    }

    /// Matroska attachments are streams without packets. Their contents are the extradata.
    private func attach(
        _ picture: Metadata.Picture, _ index: Int, to context: UnsafeMutablePointer<AVFormatContext>
    ) throws(MediaError) {
        guard let stream = avformat_new_stream(context, nil),
            let bytes = av_mallocz(picture.bytes.count + Int(AV_INPUT_BUFFER_PADDING_SIZE))
        else { throw .outOfMemory("attach a picture") }
        bytes.copyMemory(from: picture.bytes, byteCount: picture.bytes.count)
        let parameters = stream.pointee.codecpar!
        parameters.pointee.codec_type = AVMEDIA_TYPE_ATTACHMENT
        parameters.pointee.extradata = bytes.assumingMemoryBound(to: UInt8.self)
        parameters.pointee.extradata_size = CInt(picture.bytes.count)
        let ending = picture.mediaType.split(separator: "/").last.map { $0 == "jpeg" ? "jpg" : String($0) } ?? "bin"
        // Matroska players look for the file name `cover`.
        let name = picture.kind == Metadata.Picture.frontCover ? "cover" : "picture\(index + 1)"
        av_dict_set(&stream.pointee.metadata, "filename", "\(name).\(ending)", 0)
        av_dict_set(&stream.pointee.metadata, "mimetype", picture.mediaType, 0)
        if !picture.description.isEmpty { av_dict_set(&stream.pointee.metadata, "title", picture.description, 0) }
    }
}
