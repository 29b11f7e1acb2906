package import Bytes
import CLibav
package import MediaTypes

extension ChannelLayout {
    /// The index, from 0, of a channel that a job names in a field.
    package func place(of reference: ChannelReference, _ field: String) throws(MediaError) -> Int {
        switch reference {
        case .number(let number) where number <= count: return number - 1
        case .speaker(let name):
            let channel = av_channel_from_string(name)
            if let place = place(of: channel) { return place }
            // A single channel matches left, right and center.
            if count == 1, ["FL", "FR", "FC"].contains(name) { return 0 }
            // Surround channels are at the side in one layout and at the back in another.
            if let twin = Self.twins[name], let place = place(of: av_channel_from_string(twin)) { return place }
        default: break
        }
        let names = (0..<count).map { channelName(at: $0) }.joined(separator: " ")
        throw MediaError(
            .invalidSettings, "choose channels",
            "\(field) refers to the channel \(reference), and the source has \(count == 1 ? "only" : "the \(count) channels") \(names)"
        )
    }

    private static let twins = ["SL": "BL", "SR": "BR", "BL": "SL", "BR": "SR"]

    /// libav's short name of a channel, such as `FL`.
    private func channelName(at place: Int) -> String {
        withUnsafeTemporaryAllocation(of: CChar.self, capacity: 32) { text in
            av_channel_name(text.baseAddress, text.count, channel(at: place)) > 0
                ? String(cString: text.baseAddress!) : "c\(place + 1)"
        }
    }
}
