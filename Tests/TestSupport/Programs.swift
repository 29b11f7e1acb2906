import Glibc

/// The programs built by the package.
package enum Programs {
    /// The path of the program, in the folder of the test binary.
    package static func path(_ name: String) -> String { "\(folder)/\(name)" }

    /// The folder of the build products.
    package static let folder: String = {
        var buffer = [CChar](repeating: 0, count: Int(PATH_MAX))
        let length = readlink("/proc/self/exe", &buffer, buffer.count)
        let path = String(decoding: buffer.prefix(max(0, length)).map { UInt8(bitPattern: $0) }, as: UTF8.self)
        return String(path[..<(path.lastIndex(of: "/") ?? path.startIndex)])
    }()
}
