import Bytes
import Conversion
import Libav
import Lifecycle
import MediaTypes

/// Bytes as a source that is probed or converted.
enum MediaTarget {
    private static let quiet: Void = LibavLog.install(level: .error) { _, _ in }

    static func probe(_ bytes: UnsafeRawBufferPointer) {
        _ = quiet
        let store = MemoryStore(bytes)
        var settings = ProbeSettings()
        settings.loudness = (bytes.last ?? 0) & 1 == 1
        _ = try? Probe.of(store.source, settings, stop: CancellationFlag())
    }

    /// The last byte, which media seldom need, chooses what is made.
    static func convert(_ bytes: UnsafeRawBufferPointer) {
        _ = quiet
        let choice = Int(bytes.last ?? 0)
        let formats = ["wav", "flac", "mka", "m4a", "ogg", "mp3", "peaks", "adts"]
        var plan = ConversionPlan(renditions: [Rendition(format: formats[choice & 7])])
        if choice & 8 != 0 { plan.source.damage = .accept }
        if choice & 16 != 0 {
            plan.source.range = TimeRange(start: MediaTime(parsing: "0.05")!, end: MediaTime(parsing: "0.2")!)
        }
        if choice & 32 != 0 { plan.renditions[0].passthrough = .never }
        if choice & 64 != 0 { plan.source.track = .all }
        if choice & 128 != 0 { plan.renditions[0].sampleRate = 8000 }
        let store = MemoryStore(bytes)
        _ = try? Converter.run(
            source: store.source, stores: MemoryStores(), plan: plan, stop: CancellationFlag(), progress: { _ in })
    }
}
