import Bytes
import CLibav
import Demuxing
import Libav
import Lifecycle

/// Reads packets before they are needed, and decodes them on other threads.
///
/// Only for codecs that decode each packet independently, so that the samples do not depend on which decoder gets a packet. The
/// first packet that is not decoded to a single frame of the usual shape ends this: the caller's decoder then decodes it and
/// all that follow, as if it had decoded everything before.
final class DecodeAhead {
    /// Where libav read next after the packet that `next` returned last.
    private(set) var position: Int64
    private let shared = Monitor(Shared())
    private let decoder: PacketDecoder
    private let shape: FrameShape
    private let capacity: Int
    private var isReading = true
    private var isDecoding = true
    private var current: ReadPacket?

    private struct Shared {
        /// Packets that were read and not yet returned, in order.
        var packets: [ReadPacket] = []
        var hasEnded = false

        /// Takes the first packet that no thread decodes yet.
        func takeWaiting() -> ReadPacket? {
            guard let packet = packets.first(where: { $0.state == .waiting }) else { return nil }
            packet.state = .taken
            return packet
        }
    }

    /// The decoders' time for a packet is short, so more threads than this would wait for the demuxer.
    private static let maxThreads = 4
    private static let maxPackets = 64
    private static let maxBytes = 8 << 20

    /// Starts `threads` threads. `frame` is the last decoded frame, to which all others must be similar.
    init(
        _ demuxer: borrowing Demuxer, _ track: AudioTrack, similarTo frame: borrowing Frame, threads: Int
    ) throws(MediaError) {
        position = demuxer.bytePosition
        shape = FrameShape(frame)
        capacity = max(4, min(Self.maxPackets, Self.maxBytes / max(frame.bytes, 1)))
        decoder = try PacketDecoder(demuxer, track)
        for _ in 0..<min(threads, Self.maxThreads) {
            let decoder = try PacketDecoder(demuxer, track)
            // Without further threads, the caller decodes everything.
            _ = tryStartThread { [shared, shape] in
                while let packet = shared.wait(for: { shared -> ReadPacket?? in
                    shared.hasEnded ? .some(nil) : shared.takeWaiting().map { .some($0) }
                }) {
                    let isDecoded = decoder.decode(packet, shape)
                    shared.change { _ in packet.state = isDecoded ? .decoded : .refused }
                }
            }
        }
    }

    deinit { shared.change { $0.hasEnded = true } }

    /// Returns the next packet, like `Demuxer.next`.
    func next(_ demuxer: borrowing Demuxer, into packet: borrowing Packet) throws(MediaError) -> Bool {
        current = nil
        try readAhead(demuxer)
        let first = shared.change(wakes: false) { $0.packets.isEmpty ? nil : $0.packets.removeFirst() }
        guard let first else {
            defer { position = demuxer.bytePosition }
            return try demuxer.next(into: packet)
        }
        position = first.position
        if let failure = first.failure {
            // The demuxer may continue behind the invalid bytes.
            isReading = isDecoding
            throw failure
        }
        guard !first.isEnd else { return false }
        try check(av_packet_ref(packet.pointer, first.packet.pointer), "read the source")
        current = first
        return true
    }

    private func readAhead(_ demuxer: borrowing Demuxer) throws(MediaError) {
        guard isReading, shared.read({ $0.packets.count }) <= capacity / 2 else { return }
        var read: [ReadPacket] = []
        while isReading, read.count < capacity / 2 {
            let packet = try ReadPacket()
            do { packet.isEnd = try !demuxer.next(into: packet.packet) } catch { packet.failure = error }
            packet.position = demuxer.bytePosition
            isReading = !packet.isEnd && packet.failure == nil
            if !isReading { packet.state = .refused }
            read.append(packet)
        }
        shared.change { $0.packets += read }
    }

    /// Moves the samples of the packet that `next` returned last into the frame; returns `false` if the caller has to decode
    /// the packet.
    func take(_ packet: borrowing Packet, into frame: borrowing Frame) -> Bool {
        guard isDecoding, let read = current.take() else { return false }
        guard read.isUnchanged(packet) else {
            stop()
            return false
        }
        while true {
            let (state, other) = shared.change(wakes: false) { shared -> (ReadPacket.State, ReadPacket?) in
                let state = read.state
                if state == .waiting { read.state = .taken }
                return (state, state == .taken ? shared.takeWaiting() : nil)
            }
            switch state {
            case .waiting: return false
            case .decoded:
                frame.take(read.frame)
                return true
            case .refused:
                stop()
                return false
            case .taken:
                if let other {
                    let isDecoded = decoder.decode(other, shape)
                    shared.change { _ in other.state = isDecoded ? .decoded : .refused }
                } else {
                    _ = shared.wait { _ in read.state == .taken ? nil : true }
                }
            }
        }
    }

    /// Ends the look-ahead if a frame that the caller has decoded is not similar to the others.
    func observe(_ frame: borrowing Frame) {
        if FrameShape(frame) != shape { stop() }
    }

    /// Ends the look-ahead. `next` still returns the packets that were read.
    func stop() {
        (isReading, isDecoding) = (false, false)
        shared.change { $0.hasEnded = true }
    }
}

/// A packet that was read ahead, and its samples.
private final class ReadPacket: @unchecked Sendable {
    let packet: Packet
    let frame: Frame
    /// Where libav reads next.
    var position: Int64 = 0
    var failure: MediaError?
    var isEnd = false
    /// Changed under the monitor's lock. The thread that sets `taken` may use the frame until it sets another state.
    var state = State.waiting

    enum State {
        case waiting, taken, decoded, refused
    }

    init() throws(MediaError) {
        packet = try Packet()
        frame = try Frame()
    }

    /// Whether another reference to the packet still has the data with which it was read.
    func isUnchanged(_ other: borrowing Packet) -> Bool {
        let (read, now) = (packet.pointer.pointee, other.pointer.pointee)
        return read.data == now.data && read.size == now.size && read.pts == now.pts && read.dts == now.dts
            && read.side_data_elems == 0 && now.side_data_elems == 0
    }
}

/// The properties that all frames of a stream have in common.
private struct FrameShape: Hashable {
    let format: CInt
    let rate: Int
    let channels: Int

    init(_ frame: borrowing Frame) {
        format = frame.pointer.pointee.format
        rate = frame.rate
        channels = frame.channels
    }
}

/// The decoder of one thread.
private final class PacketDecoder: @unchecked Sendable {
    private let decoder: Decoder
    private let rest: Frame

    init(_ demuxer: borrowing Demuxer, _ track: AudioTrack) throws(MediaError) {
        decoder = try Decoder.open(demuxer.stream(track.index))
        rest = try Frame()
    }

    /// Decodes a packet; returns whether it holds a single frame of the shape.
    func decode(_ read: ReadPacket, _ shape: FrameShape) -> Bool {
        guard decoder.send(read.packet) == nil,
            case .samples? = try? decoder.receive(into: read.frame), FrameShape(read.frame) == shape,
            case .needsPacket? = try? decoder.receive(into: rest)
        else { return false }
        return true
    }
}
