import Glibc
import Text

/// Where a person reads why nothing runs.
enum StandardError {
    static func write(_ sentence: String) {
        var line = "respoold: \(PrintableText.escaped(sentence))\n"
        line.withUTF8 { bytes in _ = Glibc.write(STDERR_FILENO, bytes.baseAddress, bytes.count) }
    }
}
