import Bytes
import CLibav
import Libav
import MediaTypes

/// Finds the audio stream that a job selects.
enum TrackSelection {
    /// The stream's index in the container. Throws an error with a list of the tracks if there is no match.
    static func index(
        _ choice: TrackChoice, _ context: UnsafeMutablePointer<AVFormatContext>
    ) throws(MediaError) -> Int {
        let streams = (0..<Int(context.pointee.nb_streams)).map { context.pointee.streams[$0]! }
        let audio = streams.filter { $0.pointee.codecpar.pointee.codec_type == AVMEDIA_TYPE_AUDIO }
        guard !audio.isEmpty else { throw failure("the source has no audio track") }
        switch choice {
        case .number(let number):
            guard audio.indices.contains(number - 1) else {
                throw failure("the source has no audio track \(number); it has \(list(audio))")
            }
            return Int(audio[number - 1].pointee.index)
        case .language(let language):
            guard let spoken = LanguageCode.firstIndex(of: language, in: audio.map { Self.language($0) }) else {
                throw failure("the source has no audio track in language '\(language)'; it has \(list(audio))")
            }
            return Int(audio[spoken].pointee.index)
        case .best, .all:
            let best = av_find_best_stream(context, AVMEDIA_TYPE_AUDIO, -1, -1, nil, 0)
            return best >= 0 ? Int(best) : Int(audio[0].pointee.index)
        }
    }

    private static func language(_ stream: UnsafeMutablePointer<AVStream>) -> String? {
        av_dict_get(stream.pointee.metadata, "language", nil, 0).map { String(cString: $0.pointee.value) }
    }

    /// `1 (aac, 2 channels, eng), 2 (ac3, 6 channels)`
    private static func list(_ audio: [UnsafeMutablePointer<AVStream>]) -> String {
        audio.enumerated().map { number, stream in
            let track = AudioTrack(stream)
            let channels = "\(track.channels) \(track.channels == 1 ? "channel" : "channels")"
            let facts = [track.codecName, channels, language(stream)].compactMap { $0 }
            return "\(number + 1) (\(facts.joined(separator: ", ")))"
        }.joined(separator: ", ")
    }

    private static func failure(_ sentence: String) -> MediaError {
        MediaError(.noAudio, "choose the audio track", sentence)
    }
}
