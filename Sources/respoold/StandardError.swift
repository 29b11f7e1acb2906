import Glibc

/// Where a person reads why nothing runs.
enum StandardError {
    static func write(_ sentence: String) {
        var line = "respoold: \(sentence)\n"
        line.withUTF8 { bytes in _ = Glibc.write(STDERR_FILENO, bytes.baseAddress, bytes.count) }
    }
}
