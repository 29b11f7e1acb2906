import FoundationEssentials

/// The Python programs in `Tests/Scripts` that tests connect to.
package enum Script {
    /// The path of a program.
    package static func path(_ name: String) -> String {
        let tests = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent().path
        return "\(tests)/Scripts/\(name)"
    }
}
