package import Bytes
package import CLibav
import MediaTypes

/// An immutable channel layout; owns an `AVChannelLayout`.
package final class ChannelLayout {
    /// libav's layout, valid during the lifetime of this object.
    package let pointer: UnsafeMutablePointer<AVChannelLayout>

    /// Copies a layout, and replaces an unspecified one by the default layout of its channel count, if there is one.
    package init(naming source: UnsafePointer<AVChannelLayout>) throws(MediaError) {
        pointer = .allocate(capacity: 1)
        pointer.initialize(to: AVChannelLayout())
        if source.pointee.order == AV_CHANNEL_ORDER_UNSPEC {
            av_channel_layout_default(pointer, source.pointee.nb_channels)
        } else if av_channel_layout_copy(pointer, source) < 0 {
            throw .outOfMemory("copy a channel layout")
        }
    }

    /// The default layout of a channel count (`av_channel_layout_default`).
    package init(defaultFor count: Int) {
        pointer = .allocate(capacity: 1)
        pointer.initialize(to: AVChannelLayout())
        av_channel_layout_default(pointer, CInt(count))
    }

    /// The layout with a name of libav, such as `5.1(side)`. The name must be valid.
    init(named name: String) {
        pointer = .allocate(capacity: 1)
        pointer.initialize(to: AVChannelLayout())
        precondition(av_channel_layout_from_string(pointer, name) == 0, "no channel layout \(name)")
    }

    /// The layout of a mask of `AV_CH_…` bits.
    init(mask: UInt64) {
        pointer = .allocate(capacity: 1)
        pointer.initialize(to: AVChannelLayout())
        av_channel_layout_from_mask(pointer, mask)
    }

    deinit {
        av_channel_layout_uninit(pointer)
        pointer.deallocate()
    }

    var count: Int { Int(pointer.pointee.nb_channels) }

    /// Whether the layout specifies the channel order.
    var isNamed: Bool { pointer.pointee.order != AV_CHANNEL_ORDER_UNSPEC }

    /// The channel at an index from 0 (`av_channel_layout_channel_from_index`).
    package func channel(at place: Int) -> AVChannel { av_channel_layout_channel_from_index(pointer, UInt32(place)) }

    /// The index of a channel from 0; `nil` if the layout does not contain it.
    package func place(of channel: AVChannel) -> Int? {
        let place = av_channel_layout_index_from_channel(pointer, channel)
        return place >= 0 ? Int(place) : nil
    }

    /// The channel mask for FLAC's comments (RFC 9639, 8.6.2); `nil` if the channel count alone defines the layout.
    package var maskOfFLAC: String? {
        guard pointer.pointee.order == AV_CHANNEL_ORDER_NATIVE, pointer.pointee.u.mask >> 18 == 0,
            !AudioCodec.xiph.contains(description.replacing("(side)", with: ""))
        else { return nil }
        return "0x" + String(pointer.pointee.u.mask, radix: 16, uppercase: true)
    }

    /// Whether libav considers both layouts equal.
    package func equals(_ other: UnsafePointer<AVChannelLayout>) -> Bool {
        av_channel_layout_compare(pointer, other) == 0
    }
}

extension ChannelLayout: CustomStringConvertible {
    /// libav's name of the layout.
    package var description: String {
        withUnsafeTemporaryAllocation(of: CChar.self, capacity: 256) { text in
            av_channel_layout_describe(pointer, text.baseAddress, text.count) > 0
                ? String(cString: text.baseAddress!) : "\(count) channels"
        }
    }
}
