import FoundationEssentials
import MediaTypes

/// Builds a media playlist (RFC 8216 section 4.3.3).
struct MediaPlaylist {
    private(set) var segments: [Segment] = []
    /// The name of the initialization section.
    var setup: String?
    private let settings: SegmentSettings
    private let rate: Int

    struct Segment {
        let name: String
        let samples: Int64
        let bytes: Int64
    }

    init(_ settings: SegmentSettings, rate: Int) {
        self.settings = settings
        self.rate = rate
    }

    mutating func append(_ segment: Segment) { segments.append(segment) }

    /// Samples of the whole stream.
    var samples: Int64 { segments.reduce(0) { $0 + $1.samples } }

    var text: String {
        var lines = ["#EXTM3U", "#EXT-X-VERSION:\(version)", "#EXT-X-TARGETDURATION:\(targetDuration)"]
        lines += ["#EXT-X-MEDIA-SEQUENCE:0", "#EXT-X-PLAYLIST-TYPE:VOD"]
        if let setup { lines.append("#EXT-X-MAP:URI=\"\(setup)\"") }
        // Each duration is the difference of two rounded times, so that rounding errors do not add up.
        var (time, end) = (Int64(0), Int64(0))
        for segment in segments {
            end += segment.samples
            let next = microseconds(end)
            lines += ["#EXTINF:\(Self.seconds(next - time)),", segment.name]
            time = next
        }
        return (lines + ["#EXT-X-ENDLIST", ""]).joined(separator: "\n")
    }

    /// `EXT-X-MAP` in a playlist without I-frames requires version 6.
    var version: Int { settings.container == .fmp4 ? 7 : 3 }

    /// The longest duration of a segment, in whole seconds.
    private var targetDuration: Int64 {
        max(segments.map { (microseconds($0.samples) + 500_000) / 1_000_000 }.max() ?? 0, 1)
    }

    private func microseconds(_ samples: Int64) -> Int64 {
        Int64((Double(samples) * 1_000_000 / Double(rate)).rounded())
    }

    private static func seconds(_ microseconds: Int64) -> String {
        let fraction = String(microseconds % 1_000_000)
        return "\(microseconds / 1_000_000)." + String(repeating: "0", count: 6 - fraction.count) + fraction
    }
}

extension MediaPlaylist {
    /// The average bit rate of the whole stream, in bits a second.
    var averageBandwidth: Int { bandwidth(segments[...]) }

    /// The highest bit rate, in bits a second, of any run of segments that lasts from 0.5 to 1.5 target durations (RFC 8216
    /// section 4.3.4.2).
    var peakBandwidth: Int {
        let target = Double(targetDuration) * Double(rate)
        var peak = 0
        for start in segments.indices {
            var length = 0.0
            for end in start..<segments.endIndex {
                length += Double(segments[end].samples)
                if length > target * 1.5 { break }
                if length >= target * 0.5 { peak = max(peak, bandwidth(segments[start...end])) }
            }
        }
        return peak > 0 ? peak : averageBandwidth
    }

    private func bandwidth(_ segments: ArraySlice<Segment>) -> Int {
        let samples = segments.reduce(0) { $0 + $1.samples }
        let bits = segments.reduce(0) { $0 + $1.bytes * 8 }
        return Int((Double(bits) * Double(rate) / Double(max(samples, 1))).rounded(.up))
    }
}

/// Builds the master playlist, which lists the variants. Writing it makes the stream available (RFC 8216 section 4.3.4).
enum MasterPlaylist {
    static func text(_ variants: [(playlist: MediaPlaylist, name: String)], _ codec: AudioCodec) -> String {
        var lines = ["#EXTM3U", "#EXT-X-VERSION:\(variants[0].playlist.version)", "#EXT-X-INDEPENDENT-SEGMENTS"]
        for (playlist, name) in variants {
            let attributes = [
                "BANDWIDTH=\(playlist.peakBandwidth)", "AVERAGE-BANDWIDTH=\(playlist.averageBandwidth)",
                "CODECS=\"\(codec.words.streaming?.parameter ?? codec.name)\"",
            ]
            lines += ["#EXT-X-STREAM-INF:" + attributes.joined(separator: ","), name]
        }
        return (lines + [""]).joined(separator: "\n")
    }
}
