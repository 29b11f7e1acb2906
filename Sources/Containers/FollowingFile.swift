package import Bytes

/// Detects files that were joined: another file of the same kind follows where the container ends.
package enum FollowingFile {
    /// The offset of the following file; `nil` if there is none, or if the container declares no end.
    package static func offset(_ source: any ByteSource, _ descriptor: ContainerDescriptor) throws -> Int64? {
        guard !source.isEndless, let end = try descriptor.extent.end(source), end > 0, end < source.length else {
            return nil
        }
        let bytes = SourceBytes(source)
        // Programs that write to a pipe leave any size in the header.
        for place in try [end, chunkEnd(bytes), tagEnd(bytes, at: end)].compactMap({ $0 })
        where place >= end && place < source.length {
            // Chunks and boxes may be padded to eight bytes.
            for padding in Int64(0)..<8 where try begins(bytes, at: place + padding) { return place + padding }
        }
        return nil
    }

    /// The end of all chunks of a file that declares its own size: RIFF, AIFF and Wave64.
    private static func chunkEnd(_ bytes: SourceBytes) throws -> Int64? {
        switch try bytes.text(at: 0, 4) {
        case "RIFF": try bytes.little(at: 4, 4).map { $0 + 8 }
        case "RIFX", "FORM": try bytes.big(at: 4, 4).map { $0 + 8 }
        case "riff": try bytes.little(at: 16, 8)
        case "RF64": try bytes.little(at: 20, 8).map { $0.adding(8) }
        default: nil
        }
    }

    /// The end of an APE tag at an offset, which some programs write behind music.
    private static func tagEnd(_ bytes: SourceBytes, at offset: Int64) throws -> Int64? {
        // The size leaves out the header.
        try bytes.text(at: offset, 8) == "APETAGEX" ? bytes.little(at: offset + 12, 4).map { offset + 32 + $0 } : nil
    }

    /// Whether a file with the source's own mark begins at an offset.
    private static func begins(_ bytes: SourceBytes, at offset: Int64) throws -> Bool {
        // A box begins with its size.
        let mark: Int64 = try bytes.text(at: 4, 4) == "ftyp" ? 4 : 0
        guard let own = try bytes.read(at: mark, 4), own != [0, 0, 0, 0], offset <= bytes.rest(from: 0),
            try bytes.read(at: offset + mark, 4) == own
        else { return false }
        // The parts of a large AVI begin alike, and have another form (OpenDML AVI, section 3.0).
        guard ["RIFF", "RIFX", "RF64", "FORM"].contains(String(decoding: own, as: UTF8.self)) else { return true }
        return try bytes.read(at: offset + 8, 4) == bytes.read(at: 8, 4)
    }
}
