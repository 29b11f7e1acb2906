import Glibc
import Text

/// Writes the errors of starting to standard error.
enum StandardError {
    static func write(_ sentence: String) {
        var line = "respoold: \(PrintableText.escaped(sentence))\n"
        line.withUTF8 { bytes in _ = Glibc.write(STDERR_FILENO, bytes.baseAddress, bytes.count) }
    }
}
