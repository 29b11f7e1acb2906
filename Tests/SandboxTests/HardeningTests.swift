import FoundationEssentials
import TestSupport
import Testing

/// How C and C++ objects were compiled; what `hardening-check` says of the released programs is tested end to end.
@Suite(.failureReport, .timeLimit(.minutes(5))) struct HardeningTests {
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
