package import Bytes
import CLibav
package import MediaTypes

/// The gain of each input channel in each output channel, as a matrix for libswresample.
package struct ChannelMix {
    /// The output's layout.
    package let output: ChannelLayout
    /// Linear factors: for each output channel a row of all input channels.
    let factors: [Double]

    /// The mix that a job requests, without normalization.
    package init(_ matrix: MixMatrix, _ input: ChannelLayout) throws(MediaError) {
        var names: [String] = []
        for row in matrix.rows { if case .speaker(let name) = row.channel { names.append(name) } }
        var layout = ChannelLayout(defaultFor: matrix.rows.count)
        if names.count == matrix.rows.count {
            layout = names == ["FC"] ? ChannelLayout(named: "mono") : try ChannelLayout(speakers: names)
        }
        output = layout
        var factors = Array(repeating: 0.0, count: layout.count * input.count)
        for (index, row) in matrix.rows.enumerated() {
            // The layout has libav's channel order, not the order of the rows.
            let place =
                names.count == matrix.rows.count ? try layout.place(of: row.channel, "mix") : index
            for term in row.terms {
                factors[place * input.count + (try input.place(of: term.channel, "mix"))] += term.factor
            }
        }
        self.factors = factors
    }

    /// The default mix between two layouts; `nil` if libav has none.
    ///
    /// Center and surround channels are mixed at −3 dB, and low-frequency effects are omitted. If the channels of a row could
    /// add up to more than full scale, all rows are attenuated until they cannot. A single channel is copied to both sides at
    /// full level.
    init?(from input: ChannelLayout, to output: ChannelLayout) {
        self.output = output
        var factors = Array(repeating: 0.0, count: output.count * input.count)
        if input.count == 1, let left = output.place(of: AV_CHAN_FRONT_LEFT),
            let right = output.place(of: AV_CHAN_FRONT_RIGHT)
        {
            factors[left] = 1
            factors[right] = 1
        } else {
            let half = 0.5.squareRoot()
            // For normalization, libswresample iterates over 64 rows of 64 columns, whatever the layouts.
            var room = Array(repeating: 0.0, count: 64 * 64)
            let code = swr_build_matrix2(
                input.pointer, output.pointer, half, half, 0, 1, 1, &room, 64, AV_MATRIX_ENCODING_NONE, nil)
            guard code >= 0 else { return nil }
            for row in 0..<output.count {
                for column in 0..<input.count { factors[row * input.count + column] = room[row * 64 + column] }
            }
        }
        self.factors = factors
    }
}

extension ChannelLayout {
    /// The layout of named speakers, in libav's order.
    convenience init(speakers names: [String]) throws(MediaError) {
        var mask: UInt64 = 0
        for name in names {
            let channel = av_channel_from_string(name)
            guard channel.rawValue >= 0, channel.rawValue < 64 else {
                throw MediaError(
                    .invalidSettings, "choose channels", "mix refers to the channel \(name), which has no position")
            }
            mask |= 1 << UInt64(channel.rawValue)
        }
        self.init(mask: mask)
    }
}
