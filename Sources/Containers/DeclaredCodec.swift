package import Bytes

/// What headers declare about codecs that libav does not know, as they write it.
package enum DeclaredCodec {
    /// The codec of a file's first stream; `nil` if the header is not understood.
    package static func name(_ source: any ByteSource, _ container: Container) throws -> String? {
        guard !source.isEndless else { return nil }
        let bytes = SourceBytes(source)
        switch container {
        case .sun: return try bytes.big(at: 12, 4).map { String($0) }
        case .ape: return try bytes.little(at: 4, 2).map { "Monkey's Audio \($0 / 1000).\($0 / 10 % 100)" }
        case .aiff: return try compression(source).map { quoted($0) }
        case .ogg: return try OggPage(bytes, at: 0)?.headerSize.flatMap { try bytes.read(at: Int64($0), 8) }.map(quoted)
        case .matroska: return try matroskaID(bytes).map { quoted($0) }
        default: return nil
        }
    }

    /// The compression type of an AIFF-C file, four characters; `nil` if it declares none.
    package static func compression(_ source: any ByteSource) throws -> [UInt8]? {
        guard try SourceBytes(source).text(at: 8, 4) == "AIFC", let common = try ChunkList(source).body("COMM"),
            common.count >= 22
        else { return nil }
        return Array(common[18..<22])
    }

    /// The type of the sample entry of an MP4 or QuickTime track (ISO 14496-12, 8.5.2); `nil` without a valid one.
    package static func sampleEntry(_ source: any ByteSource, track: Int) throws -> String? {
        let bytes = SourceBytes(source)
        let file = Box(name: "", body: 0, end: source.length)
        guard let movie = try file.first("moov", bytes),
            case let tracks = try movie.children(bytes).filter({ $0.name == "trak" }), tracks.indices.contains(track),
            let media = try tracks[track].first("mdia", bytes)?.first("minf", bytes),
            let list = try media.first("stbl", bytes)?.first("stsd", bytes)
        else { return nil }
        // A version with flags, and the number of entries.
        return try list.child(at: list.body + 8, bytes)?.name
    }

    /// The `CodecID` of the first track with one in a Matroska file (RFC 9559, section 5.1.4.1).
    private static func matroskaID(_ bytes: SourceBytes) throws -> [UInt8]? {
        guard let tracks = try matroskaTracks(bytes), let track = try element(0xAE, bytes, in: tracks),
            let id = try element(0x86, bytes, in: track)
        else { return nil }
        return try bytes.read(at: id.lowerBound, min(id.count, maxName))
    }

    /// What was done to the bytes of a Matroska track after encoding (RFC 9559, section 5.1.4.1.31).
    package enum ContentEncoding: Equatable {
        /// The number of the algorithm.
        case compression(Int64)
        case encryption
    }

    /// The encodings of an audio track of a Matroska file, by its number among them, from 0.
    package static func encodings(_ source: any ByteSource, audioTrack number: Int) throws -> [ContentEncoding] {
        let bytes = SourceBytes(source)
        guard let tracks = try matroskaTracks(bytes) else { return [] }
        let audio = try elements(0xAE, bytes, in: tracks).filter {
            try self.number(0x83, bytes, in: $0) == 2 && element(0x86, bytes, in: $0) != nil
        }
        guard audio.indices.contains(number), let list = try element(0x6D80, bytes, in: audio[number]) else {
            return []
        }
        // Without the first bit of the scope, the packets are as they are.
        let encodings = try elements(0x6240, bytes, in: list).filter {
            try self.number(0x5032, bytes, in: $0) ?? 1 & 1 != 0
        }
        return try encodings.map { encoding in
            guard try self.number(0x5033, bytes, in: encoding) ?? 0 == 0 else { return .encryption }
            let compression = try element(0x5034, bytes, in: encoding)
            return .compression(try compression.flatMap { try self.number(0x4254, bytes, in: $0) } ?? 0)
        }
    }

    private static func matroskaTracks(_ bytes: SourceBytes) throws -> Range<Int64>? {
        try element(0x1853_8067, bytes, in: 0..<bytes.rest(from: 0)).flatMap { try element(0x1654_AE6B, bytes, in: $0) }
    }

    /// The bodies of the elements with an ID in a range.
    private static func elements(_ id: Int64, _ bytes: SourceBytes, in range: Range<Int64>) throws -> [Range<Int64>] {
        var (found, rest) = ([Range<Int64>](), range)
        while found.count < maxTracks, let next = try element(id, bytes, in: rest) {
            found.append(next)
            rest = next.upperBound..<range.upperBound
        }
        return found
    }

    /// The body of the first element with an ID in a range; `nil` if there is none.
    private static func element(_ wanted: Int64, _ bytes: SourceBytes, in range: Range<Int64>) throws -> Range<Int64>? {
        var offset = range.lowerBound
        for _ in 0..<maxElements {
            guard offset < range.upperBound, let first = try bytes.read(at: offset, 1)?[0],
                let id = try bytes.big(at: offset, first.leadingZeroBitCount + 1),
                let element = try bytes.element(at: offset), element.body <= range.upperBound
            else { return nil }
            let end = min(element.size.map { element.body.adding($0) } ?? .max, range.upperBound)
            if id == wanted { return element.body..<end }
            offset = end
        }
        return nil
    }

    private static func number(_ id: Int64, _ bytes: SourceBytes, in range: Range<Int64>) throws -> Int64? {
        try element(id, bytes, in: range).flatMap { try bytes.big(at: $0.lowerBound, min($0.count, 8)) }
    }

    /// The audio codec of a program in a transport stream that libav does not know (ISO 13818-1, 2.4.4); `nil` if there is none.
    package static func transportCodec(_ source: any ByteSource) throws -> String? {
        let bytes = SourceBytes(source)
        let form = try TransportPackets.forms.first { form in
            try (0..<3).allSatisfy { try bytes.big(at: form.sync + $0 * form.size, 1) == TransportPackets.mark }
        }
        guard let form else { return nil }
        // The table of programs has the identifier 0.
        var tables: [UInt16: [UInt8]] = [0: []]
        for number in 0..<maxPackets {
            guard let packet = try bytes.read(at: form.sync + number * form.size, 188) else { return nil }
            let identifier = UInt16(packet[1] & 0x1F) << 8 | UInt16(packet[2])
            guard packet[3] & 0x10 != 0, var table = tables[identifier] else { continue }
            var body = packet.dropFirst(packet[3] & 0x20 != 0 ? 5 + Int(packet[4]) : 4)
            if packet[1] & 0x40 != 0 {
                table = []
                body = body.dropFirst(1 + Int(body.first ?? 0))
            }
            // A table has at most 1,024 bytes; what follows is another one.
            guard table.count <= maxTableBytes else { continue }
            table += body
            tables[identifier] = table
            guard table.count > 3, case let end = 3 + (Int(table[1] & 0x0F) << 8 | Int(table[2])), end <= table.count
            else { continue }
            if table[0] == 2, let codec = codec(programMap: table[..<end]) { return codec }
            guard table[0] == 0, end >= 12 else { continue }
            for place in stride(from: 8, to: end - 7, by: 4) {
                let map = UInt16(table[place + 2] & 0x1F) << 8 | UInt16(table[place + 3])
                tables[map] = tables[map] ?? []
            }
        }
        return nil
    }

    /// The codec of the first audio stream in a table of streams (ISO 13818-1, 2.4.4.9) that libav does not know.
    private static func codec(programMap table: ArraySlice<UInt8>) -> String? {
        guard table.count > 16 else { return nil }
        var rest = table.dropFirst(10).dropLast(4)
        func pop(_ count: Int) -> ArraySlice<UInt8> {
            defer { rest = rest.dropFirst(count) }
            return rest.prefix(count)
        }
        func popLength() -> Int { pop(2).reduce(0) { $0 << 8 | Int($1) } & 0x0FFF }
        _ = pop(popLength())
        while let type = pop(3).first {
            // Main and auxiliary stream.
            if type == 0x2D || type == 0x2E { return "MPEG-H 3D Audio" }
            var descriptors = pop(popLength())
            while descriptors.count > 2 {
                let body = descriptors.dropFirst(2).prefix(Int(descriptors[descriptors.startIndex + 1]))
                switch descriptors.first {
                // The extension of DVB (ETSI EN 300 468, 6.4), and a registration.
                case 0x7F where body.first == 0x15: return "AC-4"
                case 0x05 where body.starts(with: "AC-4".utf8): return "AC-4"
                case 0x7F where body.first == 0x21: return "DTS-UHD"
                default: descriptors = descriptors.dropFirst(2 + body.count)
                }
            }
        }
        return nil
    }

    /// More packets than there are before a table.
    private static let maxPackets: Int64 = 20_000
    private static let maxTableBytes = 4096

    /// More elements than stand before the first track, more tracks than there are, and a longer name than any codec has.
    private static let (maxElements, maxTracks, maxName) = (1000, 200, 64)

    /// The printable characters of some bytes, without spaces.
    private static func quoted(_ bytes: [UInt8]) -> String {
        "'\(String(decoding: bytes.filter { (0x21..<0x7F).contains($0) }, as: UTF8.self))'"
    }
}
