import Foundation
import TestSupport
import Testing

/// Sources and places as people type them.
@Suite(.timeLimit(.minutes(1))) struct HandSourceTests {
    private let folder: TemporaryFolder
    private let respool: RespoolProcess

    init() throws {
        folder = try TemporaryFolder()
        respool = RespoolProcess(folder: folder.path)
    }

    private func make(_ arguments: [String]) async throws {
        let outcome = try await ChildProcess.run("ffmpeg", ["-v", "error"] + arguments, folder: folder.path)
        #expect(outcome.succeeded, "\(outcome.errors)")
    }

    private func tone(_ name: String) async throws {
        try await make(["-f", "lavfi", "-i", "sine=d=0.5:r=48000", "-bitexact", name])
    }

    private func names(_ path: String) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: folder.file(path)).sorted()
    }

    @Test func `marks an audiobook by its ending`() async throws {
        try await tone("tone.wav")
        let outcome = try await respool.run("convert", "tone.wav", "book.m4b", "--json")
        #expect(outcome.exitCode == 0 && outcome.output.contains(#""format":"m4b""#), "\(outcome.errors)")
        #expect(try Data(contentsOf: URL(filePath: folder.file("book.m4b")))[4..<12] == Data("ftypM4B ".utf8))
        let told = try await ChildProcess.run("file", ["--brief", folder.file("book.m4b")])
        #expect(told.output.contains("Audio Book") || told.output.contains("Audiobook"), "\(told.output)")
    }
}
