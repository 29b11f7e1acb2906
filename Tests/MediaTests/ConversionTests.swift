import Bytes
import Conversion
import Decoding
import FoundationEssentials
import Glibc
import Lifecycle
import MediaTypes
import Synchronization
import TestSupport
import Testing

@Suite(.failureReport, .timeLimit(.minutes(5))) struct ConversionTests {
    /// Hours of silence, without a file.
    private final class Silence: ByteSource {
        let length: Int64 = 1 << 31
        private let header: [UInt8]
        private let failing: Int64
        private let stop: CancellationFlag?
        /// How much was read after the flag was raised.
        private(set) var bytesAfterStop = 0

        /// Fails for reads from an offset on.
        init(failingAt offset: Int64 = .max, stop: CancellationFlag? = nil) {
            self.stop = stop
            func little(_ value: UInt32) -> [UInt8] { (0..<4).map { UInt8(truncatingIfNeeded: value >> ($0 * 8)) } }
            let data = UInt32((1 << 31) - 44)
            let sizes = Array("RIFF".utf8) + little(data + 36) + Array("WAVEfmt ".utf8) + little(16)
            let format: [UInt8] = [1, 0, 2, 0] + little(44_100) + little(176_400) + [4, 0, 16, 0]
            header = sizes + format + Array("data".utf8) + little(data)
            failing = offset
        }

        func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) throws -> Int {
            if offset >= failing { throw Errno(rawValue: EREMOTEIO) }
            let count = Int(min(Int64(buffer.count), length - offset))
            if stop?.isRaised == true { bytesAfterStop += count }
            if let start = buffer.baseAddress { memset(start, 0, count) }
            for index in 0..<min(count, 44) where offset + Int64(index) < 44 {
                buffer[index] = header[Int(offset) + index]
            }
            return count
        }
    }

    /// A store that takes so many bytes and no more.
    private final class Memory: RandomAccessOutput {
        private var bytes: [UInt8] = []
        private(set) var writes = 0
        private let most: Int

        init(most: Int = .max) { self.most = most }

        var length: Int64 { Int64(bytes.count) }

        func write(_ data: UnsafeRawBufferPointer, at offset: Int64) throws {
            writes += 1
            guard Int(offset) + data.count <= most else { throw Errno(rawValue: ENOSPC) }
            if bytes.count < Int(offset) + data.count {
                bytes += [UInt8](repeating: 0, count: Int(offset) + data.count - bytes.count)
            }
            bytes.withUnsafeMutableBytes {
                $0.baseAddress!.advanced(by: Int(offset)).copyMemory(from: data.baseAddress!, byteCount: data.count)
            }
        }

        func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) throws -> Int {
            let count = max(min(buffer.count, bytes.count - Int(offset)), 0)
            bytes.withUnsafeBytes {
                buffer.copyMemory(from: UnsafeRawBufferPointer(rebasing: $0[Int(offset)..<Int(offset) + count]))
            }
            return count
        }
    }

    @Test(arguments: ["mp3", "wav", "flac", "m4a"])
    func `a conversion stops soon after the flag is raised`(_ format: String) async throws {
        let stop = CancellationFlag()
        let (error, read) = try await onThread {
            let source = Silence(stop: stop)
            do throws(MediaError) {
                _ = try Converter.run(
                    source: source, store: Memory(), rendition: Rendition(format: format), range: .whole, stop: stop
                ) { if $0.phase == .converting { stop.raise() } }
                return (nil as MediaError?, source.bytesAfterStop)
            } catch { return (error, source.bytesAfterStop) }
        }
        guard case .cancelled = error?.reason else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(read < 10 * 176_400, "less than ten seconds of audio")
    }

    @Test(arguments: ["mp3", "opus", "m4a"])
    func `all threads of a conversion stop soon after the flag is raised`(_ format: String) async throws {
        let stop = CancellationFlag()
        let threads = ThreadBudget(4, isFixed: true)
        let plan = ConversionPlan(
            source: SourceSettings(range: .whole), renditions: [Rendition(format: format)])
        let error = try await onThread {
            do throws(MediaError) {
                _ = try Converter.run(
                    source: Silence(stop: stop), stores: OneStore(Memory()), plan: plan, threads: threads, stop: stop
                ) { _ in if threads.working > 1 { stop.raise() } }
                return nil as MediaError?
            } catch { return error }
        }
        guard case .cancelled = error?.reason else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(threads.working == 0)
    }

    @Test(arguments: ["mp3", "wav", "m4a", "opus"])
    func `packets are collected before they are written`(_ format: String) async throws {
        let music = try await Studio.shared.music()
        let writes = try await onThread {
            let store = Memory()
            _ = try Converter.run(
                source: MemoryFile(path: music), store: store, rendition: Rendition(format: format), range: .whole,
                stop: CancellationFlag(), progress: { _ in })
            return store.writes
        }
        #expect(writes < 30)
    }

    @Test func `an error of the source is passed on`() async throws {
        for offset in [0, 3_000_000] as [Int64] {
            let failed = try await onThread {
                do throws(MediaError) {
                    _ = try Converter.run(
                        source: Silence(failingAt: offset), store: Memory(), rendition: Rendition(format: "flac"),
                        range: .whole, stop: CancellationFlag(), progress: { _ in })
                    return nil as MediaError?
                } catch { return error }
            }
            guard case .source(let error) = failed?.reason else {
                Issue.record("\(String(describing: failed))"); return
            }
            #expect(error as? Errno == Errno(rawValue: EREMOTEIO))
        }
    }

    @Test func `an error of the store is passed on`() async throws {
        let source = try await Studio.shared.music()
        for format in ["wav", "m4a", "mp3"] {
            let failed = try await onThread {
                let input = Descriptor(owning: open(source, O_RDONLY | O_CLOEXEC))
                do throws(MediaError) {
                    _ = try Converter.run(
                        source: try! DescriptorSource(borrowing: input.number), store: Memory(most: 20_000),
                        rendition: Rendition(format: format), range: .whole, stop: CancellationFlag(),
                        progress: { _ in })
                    return nil as MediaError?
                } catch { return error }
            }
            guard case .store(let error) = failed?.reason else {
                Issue.record("\(format): \(String(describing: failed))")
                continue
            }
            #expect(error as? Errno == Errno(rawValue: ENOSPC))
        }
    }

    @Test(arguments: [("p.flac", true), ("p.aac", false)])
    func `progress is reported up to the end`(_ name: String, _ isKnown: Bool) async throws {
        let source = try await Studio.shared.source(
            name, ["-f", "lavfi", "-i", "anoisesrc=d=10:a=0.1:r=44100", "-ac", "2"])
        let reports = try await onThread {
            let input = Descriptor(owning: open(source, O_RDONLY | O_CLOEXEC))
            var reports: [Progress] = []
            _ = try Converter.run(
                source: DescriptorSource(borrowing: input.number), store: Memory(), rendition: Rendition(format: "mp3"),
                range: .whole, stop: CancellationFlag()
            ) { reports.append($0) }
            return reports
        }
        #expect(reports.first?.phase == .opening)
        let converting = reports.filter { $0.phase == .converting }
        #expect(converting.last?.fraction == 1)
        #expect(converting.map(\.position) == converting.map(\.position).sorted())
        for report in converting.dropLast() {
            #expect((report.duration != nil) == isKnown)
            #expect((0...(isKnown ? 1 : 0.99)).contains(report.fraction ?? -1))
        }
    }

    @Test(arguments: ["mp3", "m4a", "flac", "ogg", "opus", "aiff", "wav", "alac"])
    func `tags are carried over, wherever the source keeps them`(_ format: String) async throws {
        let title = "Mélodie 旋律 🎵"
        let tags = ["-metadata", "title=\(title)", "-metadata", "artist=Someone"]
        for name in ["tagged.flac", "tagged.opus"] {
            let source = try await Studio.shared.music(as: name, tags)
            let converted = try await convert(source, Rendition(format: format), end: MediaTime(parsing: "0.3")!)
            let told = try await ffprobe(converted.path, "format_tags=title:stream_tags=title")
            #expect(told == title, "\(name) to \(format)")
        }
    }

    @Test func `the index of an MP4 precedes its samples`() async throws {
        let converted = try await convert(Studio.shared.music(), Rendition(format: "m4a"))
        let bytes = try Data(contentsOf: URL(filePath: converted.path))
        let index = bytes.firstRange(of: Data("moov".utf8))
        let samples = bytes.firstRange(of: Data("mdat".utf8))
        #expect(index!.lowerBound < samples!.lowerBound)
    }

    @Test func `a probe describes a source`() async throws {
        let film = ["-f", "lavfi", "-i", "testsrc=d=2:r=5:s=64x64", "-i", try await Studio.shared.music()]
        let source = try await Studio.shared.source(
            "film.mp4",
            film + ["-c:a", "alac", "-metadata:s:a:0", "language=fra", "-metadata", "title=A film", "-shortest"])
        let probe = try await onThread {
            let input = Descriptor(owning: open(source, O_RDONLY | O_CLOEXEC))
            return try Probe.of(DescriptorSource(borrowing: input.number), stop: CancellationFlag())
        }
        let track = try #require(probe.tracks.first)
        #expect((track.codec, track.sampleRate, track.channels, track.bits) == ("alac", 44_100, 2, 16))
        #expect((track.channelLayout, track.language) == ("stereo", "fra"))
        #expect(probe.tags["title"] == ["A film"])
        #expect(probe.format.hasPrefix("mov"))
        #expect(abs((probe.seconds ?? 0) - 2) < 0.2)
        let json = String(decoding: try JSONEncoder().encode(probe), as: UTF8.self)
        #expect(json.contains("\"sample_rate\":44100") && json.contains("\"channel_layout\":\"stereo\""))
    }
}
