/// The header packets of a Vorbis stream with their signatures (Vorbis I, 4.2.1).
package enum VorbisHeader: UInt8 {
    case identification = 1
    case comment = 3

    /// The packet's first bytes: its type, and the codec's name in ASCII.
    package var mark: [UInt8] { [rawValue, 0x76, 0x6F, 0x72, 0x62, 0x69, 0x73] }
}
