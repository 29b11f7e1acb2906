import Foundation
import Glibc
import TestSupport
import Testing

/// The first lines that a reader of the README pastes.
@Suite(.failureReport, .timeLimit(.minutes(5))) struct QuickstartTests {
    private static let page = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../README.md")

    @Test func `the README's first job runs as it is pasted`() async throws {
        let text = try String(contentsOf: Self.page, encoding: .utf8)
        let quickstart = try #require(text.split(separator: "\n## ").first { $0.hasPrefix("Quickstart") })
        let lines = quickstart.matches(of: /```sh\n((?:.|\n)*?)```/).map { String($0.1) }.joined()
        #expect(lines.contains("make install") && lines.contains("respool up"))
        let (port, folder) = (try LoopbackPort.free(), try TemporaryFolder())
        // The programs are those that were built.
        mkdir(folder.file("bin"), 0o755)
        for (name, line) in [
            ("make", "exit 0"), ("respool", "exec \(Programs.path("respool")) \"$@\""),
        ] {
            try await folder.script("bin/\(name)", line)
        }
        let environment = [
            "PATH": "\(folder.file("bin")):/usr/bin:/bin", "HOME": folder.path,
            "RESPOOL_SPOOL_DIR": folder.path, "RESPOOL_LISTEN": "", "SWIFT_BACKTRACE": "enable=no",
        ]
        let script = try folder.write(
            "lines.sh", text: lines.replacing("8080", with: "\(port)") + "\nstatus=$?\nkill %1\nwait %1\nexit $status\n"
        )
        let outcome = try await ChildProcess.run("bash", ["-m", script], environment: environment, folder: folder.path)
        #expect(outcome.exitCode == 0, "\(outcome.output)\n\(outcome.errors)")
        let name = try #require(outcome.output.split(separator: "\n").last { $0.hasSuffix(".mp3") }.map(String.init))
        let length = try await ChildProcess.run(
            "ffprobe",
            [
                "-v", "error", "-show_entries", "format=duration", "-of", "csv=p=0",
                folder.file(".local/share/respool/outputs/\(name)"),
            ])
        #expect(abs((Double(length.output.dropLast()) ?? 0) - 3) < 0.1, "\(length.output)")
    }
}
