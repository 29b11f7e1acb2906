package import MediaTypes

/// A master playlist: one presentation in several renditions.
package struct HLSMaster {
    private(set) var variants: [Variant] = []
    private(set) var renditions: [Rendition] = []

    struct Variant {
        let reference: String
        /// The peak bit rate in bits per second.
        let bandwidth: Int
        let codecs: [String]
        /// The group of audio renditions for this variant.
        let audioGroup: String?
    }

    /// An audio rendition that is separate from the variants.
    struct Rendition {
        let group: String
        let name: String
        let language: String?
        let isDefault: Bool
        /// `nil` if the audio is in the variant itself.
        let reference: String?
    }

    /// The maximum number of variants, and of renditions.
    package static let maxEntries = 4096

    init(_ lines: PlaylistLines) throws(PlaylistError) {
        var pending: HLSAttributes?
        for line in lines {
            if let value = try line.value(of: "#EXT-X-STREAM-INF:") {
                pending = HLSAttributes(value)
            } else if let value = try line.value(of: "#EXT-X-MEDIA:") {
                append(HLSAttributes(value))
            } else if line.isReference, let attributes = pending {
                let codecs = (attributes["CODECS"] ?? "").split(separator: ",").map { codec in
                    String(codec.drop { $0 == " " })
                }
                variants.append(
                    Variant(
                        reference: try line.text(), bandwidth: attributes["BANDWIDTH"].flatMap { Int($0) } ?? 0,
                        codecs: codecs, audioGroup: attributes["AUDIO"]))
                pending = nil
            }
            guard max(variants.count, renditions.count) <= Self.maxEntries else {
                throw .corrupt("has more than \(Self.maxEntries) variants or renditions")
            }
        }
    }

    private mutating func append(_ attributes: HLSAttributes) {
        guard attributes["TYPE"] == "AUDIO", let group = attributes["GROUP-ID"] else { return }
        renditions.append(
            Rendition(
                group: group, name: attributes["NAME"] ?? "", language: attributes["LANGUAGE"],
                isDefault: attributes["DEFAULT"] == "YES", reference: attributes["URI"]))
    }

    /// The reference of the playlist with the best audio: separate audio is preferred to audio muxed with video, then
    /// the highest bit rate.
    package func choose(_ track: TrackChoice) throws(PlaylistError) -> String {
        let ordered = variants.filter { !$0.holdsNoAudio }.sorted { $0.bandwidth > $1.bandwidth }
        for variant in ordered {
            guard let group = variant.audioGroup else { continue }
            let members = renditions.filter { $0.group == group }
            guard let member = try pick(members, track) else { continue }
            return member.reference ?? variant.reference
        }
        if case .language(let language) = track {
            throw PlaylistError(
                .noAudio, "the HLS playlist has no audio in language '\(language)'")
        }
        guard let best = ordered.first(where: \.isAudioOnly) ?? ordered.first else {
            guard let lone = renditions.first(where: { $0.reference != nil })?.reference else {
                throw PlaylistError(.noAudio, "the HLS playlist has no audio")
            }
            return lone
        }
        return best.reference
    }

    private func pick(_ members: [Rendition], _ track: TrackChoice) throws(PlaylistError) -> Rendition? {
        switch track {
        case .language(let language):
            return LanguageCode.firstIndex(of: language, in: members.map(\.language)).map { members[$0] }
        case .number(let number):
            guard members.indices.contains(number - 1) else {
                throw PlaylistError(
                    .noAudio,
                    "the HLS playlist has \(members.count) audio renditions, and `track` is \(number)")
            }
            return members[number - 1]
        default: return members.first(where: \.isDefault) ?? members.first
        }
    }
}

extension HLSMaster.Variant {
    /// Whether its codecs declare only audio.
    fileprivate var isAudioOnly: Bool { !codecs.isEmpty && codecs.allSatisfy(Self.isAudio) }

    /// Whether its codecs declare no audio, and it has no group of audio renditions.
    fileprivate var holdsNoAudio: Bool { audioGroup == nil && !codecs.isEmpty && !codecs.contains(where: Self.isAudio) }

    private static func isAudio(_ codec: String) -> Bool {
        AudioCodec.parameterPrefixes.contains { codec.hasPrefix($0) }
    }
}
