/// The names of channel layouts, as in libav, and their channel counts.
package enum ChannelLayoutName {
    /// The channel count of a layout; `nil` if there is no layout of that name.
    package static func channels(of name: String) -> Int? { counts[name] }

    /// All names, by channel count.
    package static let all: [String] = [
        "mono", "stereo", "downmix", "2.1", "3.0", "3.0(back)", "4.0", "quad", "quad(side)", "3.1", "5.0", "5.0(side)",
        "4.1", "5.1", "5.1(side)", "6.0", "6.0(front)", "hexagonal", "6.1", "6.1(back)", "6.1(front)", "7.0",
        "7.0(front)", "7.1", "7.1(wide)", "7.1(wide-side)", "octagonal", "hexadecagonal", "22.2",
    ]

    private static let counts = Dictionary(uniqueKeysWithValues: all.map { ($0, count($0)) })

    private static func count(_ name: String) -> Int {
        switch name {
        case "mono": 1
        case "stereo", "downmix": 2
        case "quad", "quad(side)": 4
        case "hexagonal": 6
        case "octagonal": 8
        case "hexadecagonal": 16
        default: name.prefix { $0 != "(" }.split(separator: ".").reduce(0) { $0 + Int($1)! }
        }
    }
}
