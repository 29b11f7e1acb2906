/// The names of tags. Neutral names are those of Vorbis and TagLib in capitals (`ALBUMARTIST`).
package enum TagName {
    /// The neutral name of a tag, from its name in a job, a container or libav.
    package static func neutral(_ name: String) -> String {
        let capitals = String(name.map { $0.isASCII ? Character($0.uppercased()) : $0 })
        return aliases[capitals] ?? capitals
    }

    /// The name in a job and a probe, such as `album_artist`.
    package static func shown(_ name: String) -> String {
        spelled[name] ?? String(name.map { $0.isASCII ? Character($0.lowercased()) : $0 })
    }

    /// The name that libav's muxers translate to their container's name.
    package static func libav(_ name: String) -> String {
        if let spelled = spelled[name] { return spelled }
        return generic.contains(name) ? name.lowercased() : name
    }

    /// Whether a tag describes the source's encoding, which does not apply to the output.
    package static func isAboutTheFile(_ name: String) -> Bool {
        let name = name.hasSuffix("-ENG") ? String(name.dropLast(4)) : name
        return fileTags.contains(name) || name.hasPrefix("_STATISTICS") || name.hasPrefix("ID3V2_PRIV")
            || isChapter(name)
    }

    /// Whether a tag describes the loudness of the audio.
    static func isAboutLevel(_ name: String) -> Bool {
        name.hasPrefix("REPLAYGAIN_") || name.hasPrefix("R128_") || name == "ITUNNORM" || name.hasPrefix("MP3GAIN_")
    }

    /// The name of a chapter comment of Ogg and FLAC by its number, such as `CHAPTER001`.
    package static func chapter(_ number: some BinaryInteger) -> String {
        let digits = String(number)
        return "CHAPTER" + String(repeating: "0", count: max(3 - digits.count, 0)) + digits
    }

    /// Whether it is a chapter comment of Ogg and FLAC: `CHAPTER001`, `CHAPTER001NAME`, `CHAPTER001URL`.
    package static func isChapter(_ name: String) -> Bool {
        guard name.hasPrefix("CHAPTER"), name.dropFirst(7).prefix(3).allSatisfy(\.isNumber) else { return false }
        return name.count == 10 || ["NAME", "URL"].contains(String(name.dropFirst(10)))
    }

    private static let aliases = [
        "ALBUM_ARTIST": "ALBUMARTIST", "ALBUM ARTIST": "ALBUMARTIST", "TRACK": "TRACKNUMBER",
        "TRACK_NUMBER": "TRACKNUMBER", "DISC": "DISCNUMBER", "DISK": "DISCNUMBER", "DISC_NUMBER": "DISCNUMBER",
        "YEAR": "DATE", "TOTALTRACKS": "TRACKTOTAL", "TOTALDISCS": "DISCTOTAL", "ENCODED_BY": "ENCODEDBY",
        "UNSYNCEDLYRICS": "LYRICS", "LYRICS-ENG": "LYRICS", "LYRICS-XXX": "LYRICS", "LYRICS-UND": "LYRICS",
        "SORT_NAME": "TITLESORT", "TITLE-SORT": "TITLESORT", "SORT_ARTIST": "ARTISTSORT", "ARTIST-SORT": "ARTISTSORT",
        "SORT_ALBUM": "ALBUMSORT", "ALBUM-SORT": "ALBUMSORT", "SORT_ALBUM_ARTIST": "ALBUMARTISTSORT",
        "SORT_COMPOSER": "COMPOSERSORT", "TSRC": "ISRC", "TBPM": "BPM", "TPUB": "LABEL", "PUBLISHER": "LABEL",
        "TCMP": "COMPILATION", "MEDIA_TYPE": "ITUNESMEDIATYPE", "SYNOPSIS": "LONGDESCRIPTION",
        "GAPLESS_PLAYBACK": "GAPLESSPLAYBACK", "ACOUSTID ID": "ACOUSTID_ID",
        "ACOUSTID FINGERPRINT": "ACOUSTID_FINGERPRINT", "COMMENT:ITUNNORM": "ITUNNORM", "COMMENT:ITUNSMPB": "ITUNSMPB",
    ]

    private static let spelled = [
        "ALBUMARTIST": "album_artist", "TRACKNUMBER": "track", "DISCNUMBER": "disc", "ENCODEDBY": "encoded_by",
    ]

    private static let generic: Set = [
        "TITLE", "ARTIST", "ALBUM", "COMPOSER", "GENRE", "DATE", "COMMENT", "COPYRIGHT", "LANGUAGE", "PERFORMER",
        "DESCRIPTION", "LYRICS", "GROUPING", "COMPILATION",
    ]

    private static let fileTags: Set = [
        "ENCODER", "ENCODING", "ENCODERSETTINGS", "ENCODED_BY_LAVF", "ITUNSMPB", "MAJOR_BRAND", "MINOR_VERSION",
        "COMPATIBLE_BRANDS", "HANDLER_NAME", "VENDOR_ID", "DURATION", "BPS", "NUMBER_OF_FRAMES", "NUMBER_OF_BYTES",
        "CREATION_TIME", "CODING_HISTORY", "TIME_REFERENCE", "UMID", "WAVEFORMATEXTENSIBLE_CHANNEL_MASK", "LENGTH",
        "COMMENT:ITUNES_CDDB_IDS",
    ]
}
