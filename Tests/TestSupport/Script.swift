import FoundationEssentials

/// The programs in Python that tests talk to, which lie in `Tests/Scripts`.
package enum Script {
    /// The path of a program.
    package static func path(_ name: String) -> String {
        let tests = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent().path
        return "\(tests)/Scripts/\(name)"
    }
}
