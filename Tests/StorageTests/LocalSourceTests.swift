import FoundationEssentials
import Glibc
import JobSchema
import SlotIPC
import TestSupport
import Testing

/// Files of this machine: under the roots, and nowhere else.
@Suite(.failureReport, .timeLimit(.minutes(5))) struct LocalSourceTests {
    private let folder: TemporaryFolder
    private let root: String
    private let policy: TransferPolicy

    init() throws {
        folder = try TemporaryFolder()
        root = folder.file("sources")
        try FileManager.default.createDirectory(atPath: root + "/sub", withIntermediateDirectories: true)
        try folder.write("sources/sub/a b?#ä.flac", text: "inside")
        try folder.write("sources/plain.flac", text: "inside")
        try folder.write("outside.flac", text: "outside")
        symlink(folder.file("outside.flac"), root + "/leads-out.flac")
        symlink("sub/a b?#ä.flac", root + "/leads-in.flac")
        symlink(folder.file("nothing"), root + "/dangling")
        symlink(folder.path, root + "/up")
        mkfifo(root + "/fifo", 0o644)
        var policy = TransferPolicy()
        policy.sourceRoots = [folder.file("no-such-root"), root]
        self.policy = policy
    }

    private func open(_ source: String, _ policy: TransferPolicy) async throws -> (content: String?, failure: Failure?)
    {
        var result: (String?, Failure?) = (nil, nil)
        try await withTransfer(policy) { child in
            try await child.tell(.job(.test(source)))
            switch try await child.ask(.open) {
            case .opened(let length, let available):
                #expect(available == length)
                #expect(await !child.mayWriteSource())
                result.0 = String(decoding: try await child.fetch(0..<length), as: UTF8.self)
            case .refused(let failure): result.1 = failure
            default: break
            }
        }
        return result
    }

    @Test func `a file under a root is opened`() async throws {
        for path in [
            "/sub/a b?#ä.flac", "/leads-in.flac", "/plain.flac", "/sub/../plain.flac", "/up/sources/plain.flac",
        ] {
            #expect(try await open(root + path, policy).content == "inside", "\(path)")
            #expect(try await open("file://" + root + path, policy).content == "inside", "file://\(path)")
        }
        #expect(try await open("file://localhost\(root)/sub/a%20b%3f%23%C3%A4.flac", policy).content == "inside")
    }

    @Test func `a file outside is denied, and its existence is not revealed`() async throws {
        let paths = [
            root + "/../outside.flac", root + "/leads-out.flac", root + "/dangling", root + "/dangling/x.flac",
            root + "/up/outside.flac", root + "/up/missing.flac", root + "-beside/x", "/etc/passwd",
            "/etc/no-such-file",
            "/var/secret/x", "/proc/self/environ", "/",
        ]
        for path in paths {
            let failure = try #require(try await open(path, policy).failure)
            #expect(
                failure
                    == Failure(
                        .policyDenied, "the source '\(path)' is outside the source roots; see RESPOOL_SOURCE_ROOTS"))
        }
    }

    @Test func `a missing file and a folder under a root are reported`() async throws {
        #expect(try await open(root + "/missing.flac", policy).failure?.code == .sourceNotFound)
        #expect(try await open(root + "/missing/too.flac", policy).failure?.code == .sourceNotFound)
        #expect(try await open(root + "/plain.flac/x", policy).failure?.code == .sourceNotFound)
        #expect(try await open(root + "/fifo", policy).failure?.code == .policyDenied)
        #expect(try await open(root + "/sub", policy).failure?.code == .policyDenied)
        #expect(try await open("file://elsewhere/plain.flac", policy).failure?.code == .invalidRequest)
        var small = policy
        small.maxSourceBytes = 5
        #expect(try await open(root + "/plain.flac", small).failure?.code == .tooLarge)
    }

    @Test func `only the granted file is readable without roots`() async throws {
        var policy = TransferPolicy()
        let failure = try #require(try await open(root + "/plain.flac", policy).failure)
        #expect(failure.code == .policyDenied && failure.message.contains("RESPOOL_SOURCE_ROOTS"))
        policy.grantedSource = folder.file("outside.flac")
        #expect(try await open(folder.file("outside.flac"), policy).content == "outside")
        #expect(try await open(root + "/plain.flac", policy).failure?.code == .policyDenied)
        policy.grantedSource = folder.file("missing.flac")
        #expect(try await open(folder.file("missing.flac"), policy).failure?.code == .sourceNotFound)
    }
}
