package import Bytes
import CLibav
package import MediaTypes

/// How much of each channel of one layout goes into each of another, as libswresample takes it.
package struct ChannelMix {
    package let output: ChannelLayout
    /// Linear factors, one row of all source channels for each channel of the result.
    let factors: [Double]

    /// The mix that a job asks for, exactly as it is written.
    package init(_ matrix: MixMatrix, _ input: ChannelLayout) throws(MediaError) {
        var names: [String] = []
        for row in matrix.rows { if case .speaker(let name) = row.channel { names.append(name) } }
        var layout = ChannelLayout(usualFor: matrix.rows.count)
        if names.count == matrix.rows.count {
            layout = names == ["FC"] ? ChannelLayout(named: "mono") : try ChannelLayout(speakers: names)
        }
        output = layout
        var factors = Array(repeating: 0.0, count: layout.count * input.count)
        for (index, row) in matrix.rows.enumerated() {
            // Layouts have an order of their own.
            let place =
                names.count == matrix.rows.count ? try layout.place(of: row.channel, "mix") : index
            for term in row.terms {
                factors[place * input.count + (try input.place(of: term.channel, "mix"))] += term.factor
            }
        }
        self.factors = factors
    }

    /// The usual mix from one layout to another, or nothing where libav knows none.
    ///
    /// Centre and surround come in at −3 dB, low-frequency effects are left out, and where the channels of a row could
    /// add up to more than full scale, all rows are lowered until they cannot. A lone channel goes to both sides whole.
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
            // When it lowers all rows, libswresample goes through 64 of them with 64 columns, whatever the layouts.
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
    /// The layout of some loudspeakers, in libav's order.
    convenience init(speakers names: [String]) throws(MediaError) {
        var mask: UInt64 = 0
        for name in names {
            let channel = av_channel_from_string(name)
            guard channel.rawValue >= 0, channel.rawValue < 64 else {
                throw MediaError(
                    .invalidSettings, "choose channels", "mix names the channel \(name), which has no place")
            }
            mask |= 1 << UInt64(channel.rawValue)
        }
        self.init(mask: mask)
    }
}
