import FoundationEssentials
import Glibc
import MediaTypes
import SlotIPC
import TestSupport
import Testing

@testable import Downloads
@testable import Requests

@Suite(.failureReport, .timeLimit(.minutes(5))) struct IcecastTests {
    private func policy(_ folder: TemporaryFolder) -> TransferPolicy {
        var policy = TransferPolicy()
        policy.allowedHosts = ["127.0.0.1"]
        policy.spoolFolder = folder.path
        return policy
    }

    @Test func `audio and titles are separated, and the space behind the reader is freed`() async throws {
        let folder = try TemporaryFolder()
        let total = 16 << 20
        let url = try await Origin.shared.url("icy", "icecast", total)
        try await withTransfer(policy(folder)) { child in
            try await child.tell(.job(.test(url)))
            guard case .openedStream = try await child.ask(.open) else { throw NotInTime(description: "no stream") }
            var (offset, titles): (Int64, [StreamTitle]) = (0, [])
            var isRight = true
            while case .have(offset, let length) = try await child.ask(.need(offset: offset)), length > 0 {
                let bytes = await child.read(offset..<offset + length)
                isRight = isRight && Self.repeats(Origin.content, bytes, from: Int(offset))
                offset += length
                guard case .titles(let new) = try await child.ask(.titles) else { break }
                titles += new
                // A reader that is slow holds up the server, and what it has read takes no space.
                #expect(await child.sourceBlocks() <= 8 << 20)
            }
            #expect(isRight)
            #expect(offset == Int64(total))
            #expect(titles.count == 256)
            #expect(titles.prefix(2) == [.init(offset: 8192, title: "Itém 0"), .init(offset: 73_728, title: "Itém 1")])
            try await child.endJob()
        }
        #expect(try await Origin.shared.lines("icecast").contains("ICY 1"))
    }

    /// Whether the bytes are those of a content that comes again and again.
    private static func repeats(_ content: [UInt8], _ bytes: [UInt8], from offset: Int) -> Bool {
        var done = 0
        while done < bytes.count {
            let start = (offset + done) % content.count
            let count = min(bytes.count - done, content.count - start)
            let isSame = content.withUnsafeBytes { expected in
                bytes.withUnsafeBytes { memcmp(expected.baseAddress! + start, $0.baseAddress! + done, count) == 0 }
            }
            guard isSame else { return false }
            done += count
        }
        return true
    }

    @Test(arguments: [1, 7, 100, 5000])
    func `titles are found however the bytes are cut`(step: Int) throws {
        func block(_ text: String) -> [UInt8] {
            let count = (text.utf8.count + 15) / 16
            return [UInt8(count)] + text.utf8 + [UInt8](repeating: 0, count: count * 16 - text.utf8.count)
        }
        let audio = (0..<100).map { UInt8($0) }
        let stream =
            audio + block("StreamTitle='Rock 'n' Roll';StreamUrl='x';") + audio + block("") + audio
            + block("StreamTitle='Rock 'n' Roll';") + audio + block("StreamTitle='日本';") + audio
        var filter = try #require(IcyFilter(interval: 100))
        var (heard, position): ([UInt8], Int64) = ([], 0)
        for start in stride(from: 0, to: stream.count, by: step) {
            let part = Array(stream[start..<min(start + step, stream.count)])
            let runs = part.withUnsafeBytes { filter.take($0, at: position) }
            for run in runs { heard += part[run] }
            position = Int64(heard.count)
        }
        #expect(heard == audio + audio + audio + audio + audio)
        #expect(filter.takeTitles() == [.init(offset: 100, title: "Rock 'n' Roll"), .init(offset: 400, title: "日本")])
    }

    @Test func `titles are kept up to what one message holds`() throws {
        var filter = try #require(IcyFilter(interval: 1))
        for index in 0..<1000 {
            let text = "StreamTitle='\(index)" + String(repeating: "語", count: 500) + "';"
            let count = (text.utf8.count + 15) / 16
            let block = [0, UInt8(count)] + text.utf8 + [UInt8](repeating: 0, count: count * 16 - text.utf8.count)
            _ = block.withUnsafeBytes { filter.take($0, at: 0) }
        }
        let titles = filter.takeTitles()
        #expect(!titles.isEmpty)
        #expect(try JSONEncoder().encode(titles).count < PacketSocket.largestPacket)
    }

    @Test func `a station is distinguished from a file of unknown length`() {
        func head(_ lines: String...) -> HTTPHead {
            lines.reduce(into: HTTPHead()) { $0.append($1) }
        }
        #expect(head("ICY 200 OK", "icy-name: a").isEndless)
        #expect(head("HTTP/1.0 200 OK", "Content-Type: audio/mpeg").isEndless)
        #expect(
            head("HTTP/1.1 200 OK", "Content-Type: audio/mpeg", "icy-br: 128", "Transfer-Encoding: chunked").isEndless)
        #expect(!head("HTTP/1.1 200 OK", "Content-Type: audio/mpeg", "Transfer-Encoding: chunked").isEndless)
        #expect(!head("HTTP/1.0 200 OK", "Content-Type: audio/mpeg", "ETag: \"a\"").isEndless)
        #expect(!head("HTTP/1.0 200 OK", "Content-Type: audio/mpeg", "Content-Length: 5").isEndless)
        #expect(!head("HTTP/1.0 200 OK", "Content-Type: application/octet-stream").isEndless)
    }
}
