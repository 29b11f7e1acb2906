import CLibav

/// A source's tags, from the container and from its audio stream.
enum Tags {
    /// All tags worth keeping, the stream's where both have one.
    static func of(_ demuxer: borrowing Demuxer, _ track: AudioTrack) -> [String: String] {
        var tags: [String: String] = [:]
        for dictionary in [demuxer.context.pointee.metadata, demuxer.stream(track.index).pointee.metadata] {
            var entry = av_dict_get(dictionary, "", nil, AV_DICT_IGNORE_SUFFIX)
            while let found = entry {
                let name = String(cString: found.pointee.key)
                if !isAboutTheFile(name) { tags[name] = String(cString: found.pointee.value) }
                entry = av_dict_get(dictionary, "", found, AV_DICT_IGNORE_SUFFIX)
            }
        }
        return tags
    }

    /// Whether a tag tells of the source's own encoding, which says nothing of the result.
    private static func isAboutTheFile(_ name: String) -> Bool {
        let name = name.lowercased()
        return fileTags.contains(name) || name.hasPrefix("_statistics") || name.hasPrefix("id3v2_priv")
    }

    private static let fileTags: Set = [
        "encoder", "encoded_by_lavf", "itunsmpb", "itunnorm", "major_brand", "minor_version", "compatible_brands",
        "handler_name", "vendor_id", "language", "duration", "bps", "number_of_frames", "number_of_bytes",
        "creation_time", "coding_history", "time_reference", "umid", "waveformatextensible_channel_mask",
    ]
}
