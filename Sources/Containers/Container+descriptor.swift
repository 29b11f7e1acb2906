extension Container {
    /// The properties of the container.
    package var descriptor: ContainerDescriptor {
        switch self {
        case .ac3, .eac3: Self.frames(hidden: [], tags: .ends, seeking: .frameHeaders)
        case .dts: Self.frames(hidden: [], tags: .libav, seeking: .frameHeaders)
        case .loas: Self.frames(hidden: [], tags: .libav, seeking: .counting)
        case .mlp, .trueHD: Self.frames(hidden: .tags, tags: .libav, seeking: .counting)
        case .adts:
            ContainerDescriptor(
                extent: .undeclared, hidden: .tags, unknownSize: nil, opening: .asIs, tags: .ends,
                seeking: .frameHeaders, padding: .libav, length: .guessed, checksum: .nowhere, timing: .addedUp,
                places: .frameBytes, framing: .nothing, tracks: .chosen, cut: .none, packetBytes: nil)
        case .dtsHD:
            ContainerDescriptor(
                extent: .undeclared, hidden: [], unknownSize: nil, opening: .asIs, tags: .libav, seeking: .counting,
                padding: .libav, length: .rounded, checksum: .nowhere, timing: .addedUp, places: .libav,
                framing: .container, tracks: .chosen, cut: .none, packetBytes: nil)
        case .gsm:
            ContainerDescriptor(
                extent: .undeclared, hidden: .tags, unknownSize: nil, opening: .asIs, tags: .libav, seeking: .counting,
                padding: .libav, length: .rounded, checksum: .nowhere, timing: .stamped, places: .libav,
                framing: .nothing, tracks: .chosen, cut: .none, packetBytes: nil)
        case .mp3:
            ContainerDescriptor(
                extent: .undeclared, hidden: .tags, unknownSize: nil, opening: .likeFrames, tags: .ends,
                seeking: .frameHeaders, padding: .lameTag, length: .rounded, checksum: .nowhere, timing: .addedUp,
                places: .libav, framing: .chain, tracks: .chosen, cut: .none, packetBytes: nil)
        case .ape:
            ContainerDescriptor(
                extent: .undeclared, hidden: [], unknownSize: nil, opening: .asIs, tags: .ends, seeking: .counting,
                padding: .libav, length: .counted, checksum: .nowhere, timing: .stamped, places: .libav,
                framing: .container, tracks: .chosen, cut: .none, packetBytes: nil)
        case .flac:
            ContainerDescriptor(
                extent: .undeclared, hidden: [], unknownSize: nil, opening: .asIs, tags: .flacBlocks,
                seeking: .timestamps(of: .flac), padding: .libav, length: .counted, checksum: .streamInfo,
                timing: .stamped, places: .libav, framing: .container, tracks: .chosen, cut: .none, packetBytes: nil)
        case .musepack:
            ContainerDescriptor(
                extent: .undeclared, hidden: [], unknownSize: nil, opening: .withoutSeekTable, tags: .ends,
                seeking: .counting,
                padding: .musepackHeader, length: .rounded, checksum: .nowhere, timing: .stamped, places: .libav,
                framing: .container, tracks: .chosen, cut: .none, packetBytes: nil)
        case .ogg:
            ContainerDescriptor(
                extent: .lastPage(OggEnd.defect), hidden: [], unknownSize: nil, opening: .asIs, tags: .oggComment,
                seeking: .granules, padding: .granules, length: .rounded, checksum: .nowhere, timing: .stamped,
                places: .pages, framing: .container, tracks: .chosen, cut: .none, packetBytes: nil)
        case .trueAudio:
            ContainerDescriptor(
                extent: .header(Extent.trueAudio), hidden: .tags, unknownSize: nil, opening: .asIs, tags: .ends,
                seeking: .timestamps(of: .trueAudio), padding: .libav, length: .counted, checksum: .nowhere,
                timing: .stamped, places: .libav, framing: .container, tracks: .chosen, cut: .none, packetBytes: nil)
        case .wavPack:
            ContainerDescriptor(
                extent: .undeclared, hidden: .tags, unknownSize: nil, opening: .asIs, tags: .ends,
                seeking: .blockHeaders, padding: .libav, length: .counted, checksum: .lastBlock, timing: .stamped,
                places: .libav, framing: .wavPackBlocks, tracks: .chosen, cut: .none, packetBytes: nil)
        case .aiff:
            ContainerDescriptor(
                extent: .header(Extent.aiff), hidden: [], unknownSize: { try $0.resolveAIFF() }, opening: .asIs,
                tags: .chunks, seeking: .timestamps(of: .pcm), padding: .libav, length: .countedIfPCM,
                checksum: .nowhere, timing: .stamped, places: .libav, framing: .container, tracks: .chosen, cut: .none,
                packetBytes: nil)
        case .caf:
            ContainerDescriptor(
                extent: .header(Extent.coreAudio), hidden: [], unknownSize: { try $0.resolveCoreAudio() },
                opening: .asIs, tags: .libav, seeking: .timestamps(of: .pcm), padding: .packetTable,
                length: .countedIfPCM, checksum: .nowhere, timing: .stamped, places: .libav, framing: .container,
                tracks: .chosen, cut: .none, packetBytes: nil)
        case .sun:
            ContainerDescriptor(
                extent: .header(Extent.sun), hidden: [], unknownSize: { try $0.resolveSun() }, opening: .asIs,
                tags: .libav, seeking: .timestamps(of: .pcm), padding: .dataSize, length: .countedIfPCM,
                checksum: .nowhere, timing: .stamped, places: .libav, framing: .container, tracks: .chosen, cut: .none,
                packetBytes: nil)
        case .wave:
            ContainerDescriptor(
                extent: .header(Extent.riff), hidden: [], unknownSize: { try $0.resolveWave() }, opening: .samples,
                tags: .chunks, seeking: .timestamps(of: .pcm), padding: .factChunk, length: .countedIfPCM,
                checksum: .nowhere, timing: .stamped, places: .libav, framing: .container, tracks: .chosen, cut: .none,
                packetBytes: 32_768)
        case .wave64:
            ContainerDescriptor(
                extent: .header(Extent.wave64), hidden: .tags, unknownSize: { try $0.resolveWave64() },
                opening: .samples, tags: .libav, seeking: .timestamps(of: .pcm), padding: .factChunk,
                length: .countedIfPCM, checksum: .nowhere, timing: .stamped, places: .libav, framing: .container,
                tracks: .chosen, cut: .none,
                packetBytes: 32_768)
        case .asf:
            ContainerDescriptor(
                extent: .header(Extent.advancedSystems), hidden: [], unknownSize: nil, opening: .asIs, tags: .asfHeader,
                seeking: .counting, padding: .libav, length: .rounded, checksum: .nowhere,
                timing: .placedLate(.advancedSystems),
                places: .libav, framing: .container, tracks: .chosen, cut: .none, packetBytes: nil)
        case .avi:
            ContainerDescriptor(
                extent: .header(Extent.interleaved), hidden: [], unknownSize: { try $0.resolveInterleaved() },
                opening: .asIs, tags: .libav, seeking: .chunkIndex, padding: .libav, length: .rounded,
                checksum: .nowhere, timing: .stamped, places: .chunkIndex, framing: .container, tracks: .chosen,
                cut: .none, packetBytes: nil)
        case .flash:
            ContainerDescriptor(
                extent: .headerOrUnits(Extent.flash, Extent.partialTag), hidden: [], unknownSize: nil, opening: .asIs,
                tags: .libav,
                seeking: .flashTags, padding: .libav, length: .rounded, checksum: .nowhere, timing: .placed(.flash),
                places: .libav, framing: .container, tracks: .all, cut: .none, packetBytes: nil)
        case .matroska:
            ContainerDescriptor(
                extent: .headerOrUnits(Extent.matroska, Extent.partialElement), hidden: .beyondExtent, unknownSize: nil,
                opening: .asIs, tags: .attachments,
                seeking: .clusters, padding: .codecHeader, length: .rounded, checksum: .nowhere,
                timing: .placed(.matroska), places: .libav, framing: .container, tracks: .all, cut: .none,
                packetBytes: nil)
        case .mpegProgram:
            ContainerDescriptor(
                extent: .undeclared, hidden: [], unknownSize: nil, opening: .asIs, tags: .libav, seeking: .counting,
                padding: .libav, length: .rounded, checksum: .nowhere, timing: .placed(.program), places: .libav,
                framing: .container, tracks: .chosen, cut: .none, packetBytes: nil)
        case .mpegTransport:
            ContainerDescriptor(
                extent: .headerOrUnits({ _ in nil }, Extent.partialTransportPacket), hidden: [], unknownSize: nil,
                opening: .asIs, tags: .libav,
                seeking: .elementaryPackets, padding: .libav, length: .rounded, checksum: .nowhere,
                timing: .placed(.transport),
                places: .libav, framing: .container, tracks: .chosen, cut: .betweenTransportPackets, packetBytes: nil)
        case .mp4:
            ContainerDescriptor(
                extent: .header(Extent.boxes), hidden: [], unknownSize: nil, opening: .withoutEdits, tags: .movieBoxes,
                seeking: .sampleIndex, padding: .editList, length: .rounded, checksum: .nowhere, timing: .stamped,
                places: .libav, framing: .container, tracks: .chosen, cut: .afterIndexedSamples, packetBytes: nil)
        case .nut:
            ContainerDescriptor(
                extent: .index(Extent.nutIndex), hidden: [.beyondExtent, .tags], unknownSize: nil, opening: .asIs,
                tags: .libav, seeking: .counting, padding: .libav, length: .rounded, checksum: .nowhere,
                timing: .placed(.nut), places: .libav, framing: .container, tracks: .all, cut: .none, packetBytes: nil)
        case .adx: Self.declaring(.header(Extent.adx), hidden: [])
        case .apm: Self.declaring(.header(Extent.apm), hidden: [])
        case .ast: Self.declaring(.header(Extent.ast), hidden: [])
        case .kvag: Self.declaring(.header(Extent.kvag), hidden: [])
        case .mxf: Self.declaring(.header(Extent.materialExchange), hidden: [])
        case .realMedia: Self.declaring(.header(Extent.realMedia), hidden: [], cut: .insideReads)
        case .sox: Self.declaring(.header(Extent.soundExchange), hidden: .beyondExtent)
        case .generic: Self.declaring(.undeclared, hidden: [])
        }
    }

    /// A container that consists of frames only.
    private static func frames(hidden: HiddenTail, tags: TagForm, seeking: SeekMethod) -> ContainerDescriptor {
        ContainerDescriptor(
            extent: .undeclared, hidden: hidden, unknownSize: nil, opening: .asIs, tags: tags, seeking: seeking,
            padding: .libav, length: .rounded, checksum: .nowhere, timing: .addedUp, places: .libav, framing: .nothing,
            tracks: .chosen, cut: .none, packetBytes: nil)
    }

    /// A container that has no special properties except its declared end.
    private static func declaring(
        _ extent: Extent, hidden: HiddenTail, cut: HarmlessCut = .none
    ) -> ContainerDescriptor {
        ContainerDescriptor(
            extent: extent, hidden: hidden, unknownSize: nil, opening: .asIs, tags: .libav, seeking: .counting,
            padding: .libav, length: .rounded, checksum: .nowhere, timing: .stamped, places: .libav,
            framing: .container, tracks: .chosen, cut: cut, packetBytes: nil)
    }
}
