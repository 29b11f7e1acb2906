import CLinux
import Glibc
import MediaTypes

/// Parses a command line with getopt_long(3).
struct OptionParser {
    let options: [Option]
    /// Whether parsing stops at the first operand.
    var stopsAtOperand = false

    /// Parses the words after the command's name.
    func parse(_ words: [String]) throws(CommandFailure) -> Arguments {
        // Words from a shell contain no zero bytes. One would end the word here.
        var pointers = (["respool"] + words).map { strdup($0) } + [nil]
        let names = options.map { option in ([option.name] + option.aliases).map { strdup($0) } }
        defer {
            for pointer in pointers { free(pointer) }
            for pointer in names.joined() { free(pointer) }
        }
        let table = zip(options, names).enumerated().flatMap { index, entry in
            entry.1.enumerated().map { place, name in
                clinux_option(
                    name: name, letter: place == 0 ? CChar(entry.0.letter?.asciiValue ?? 0) : 0,
                    takes_value: entry.0.placeholder == nil ? 0 : 1, index: Int32(index))
            }
        }
        var found = [clinux_found](repeating: clinux_found(), count: words.reduce(1) { $0 + $1.utf8.count + 1 })
        let result = clinux_parse_options(
            Int32(words.count + 1), &pointers, stopsAtOperand ? 1 : 0, table, table.count, &found)
        let sorted = pointers.dropLast().map { String(cString: $0!) }
        guard result.outcome == CLINUX_OPTIONS_PARSED.rawValue else {
            throw .usage(explain(result, word: sorted[Int(result.word)]))
        }
        var values: [String: [String]] = [:]
        for item in found.prefix(Int(result.found)) {
            values[options[Int(item.index)].name, default: []].append(item.value.map { String(cString: $0) } ?? "")
        }
        return Arguments(values: values, operands: Array(sorted[Int(result.operands)...]))
    }

    private func explain(_ result: clinux_options, word: String) -> String {
        let name = String(word.drop { $0 == "-" }.prefix { $0 != "=" })
        let shown = result.letter == 0 ? "--\(name)" : "-\(Character(UnicodeScalar(UInt8(result.letter))))"
        switch UInt32(result.outcome) {
        case CLINUX_OPTION_WITHOUT_VALUE.rawValue:
            let option = options[Int(result.index)]
            return "\(shown) requires a value: write --\(option.name) \(option.placeholder ?? "")"
        case CLINUX_OPTION_WITH_VALUE.rawValue:
            return "--\(options[Int(result.index)].name) takes no value: leave out '='"
        case CLINUX_OPTIONS_NO_MEMORY.rawValue:
            return "out of memory"
        default: break
        }
        guard result.letter == 0 else { return "unknown option '\(shown)'" }
        let all = options.flatMap { [$0.name] + $0.aliases }
        let candidates = all.filter { $0.hasPrefix(name) }
        if candidates.count > 1 {
            return "'\(shown)' is ambiguous: write \(candidates.map { "--\($0)" }.joined(separator: " or "))"
        }
        return "unknown option '\(shown)'"
            + (Spelling.nearest(to: name, among: all).map { ": did you mean --\($0)?" } ?? "")
    }
}
