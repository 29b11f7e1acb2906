import FoundationEssentials
import TestSupport
import Testing

/// How the programs were compiled and linked, as other tools read it from them.
@Suite struct HardeningTests {
    @Test(arguments: ["respool", "respoold", "respool-transfer", "respool-transcode"])
    func `a program is position-independent, binds at once, and has protected stacks`(program: String) async throws {
        let report = try await ChildProcess.run("hardening-check", ["--nocfprotection", Programs.path(program)])
        for line in [
            "Position Independent Executable: yes", "Stack protected: yes", "Read-only relocations: yes",
            "Immediate binding: yes",
        ] {
            #expect(report.output.contains(line), "\(report.output)\(report.errors)")
        }
    }

    #if arch(x86_64)
    @Test(arguments: ["CLinux", "CTagLib"])
    func `indirect calls in C and C++ objects end only at marked places`(target: String) async throws {
        let folder = "\(Programs.folder)/\(target).build"
        let objects = try FileManager.default.subpathsOfDirectory(atPath: folder).filter { $0.hasSuffix(".o") }
        #expect(!objects.isEmpty)
        for object in objects {
            let notes = try await ChildProcess.run("readelf", ["-n", "\(folder)/\(object)"])
            #expect(notes.output.contains("x86 feature: IBT, SHSTK"), "\(object): \(notes.output)")
        }
    }
    #endif
}
