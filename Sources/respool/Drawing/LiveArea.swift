/// Lines at the bottom of a terminal that are drawn over again and again.
struct LiveArea {
    let terminal: Terminal
    private var drawn = 0

    init(_ terminal: Terminal) { self.terminal = terminal }

    /// Replaces the lines, no more of them than the window has; lines that stay go above them, once.
    mutating func draw(_ lines: [String], above: [String] = []) {
        let size = terminal.size
        let lines = Array(lines.prefix(max(1, size.rows - 1)))
        var text = drawn > 0 ? "\r\u{1b}[\(drawn)A\u{1b}[J" : ""
        for line in above + lines { text += line + "\n" }
        terminal.write(text)
        drawn = lines.count
    }

    /// Takes the lines away.
    mutating func clear() { draw([]) }
}
