/// Lines at the bottom of a terminal that are drawn over again and again.
struct LiveArea {
    let terminal: Terminal
    private var drawn = 0

    init(_ terminal: Terminal) { self.terminal = terminal }

    /// Replaces the lines, no more of them than the window has.
    mutating func draw(_ lines: [String]) {
        let size = terminal.size
        let lines = Array(lines.prefix(max(1, size.rows - 1)))
        // A line that wrapped would be one more to go up: what does not fit is left out while they are written.
        var text = "\u{1b}[?7l" + (drawn > 0 ? "\r\u{1b}[\(drawn)A\u{1b}[J" : "")
        for line in lines { text += line + "\n" }
        terminal.write(text + "\u{1b}[?7h")
        drawn = lines.count
    }

    /// Leaves the lines where they are: the next ones come below.
    mutating func release() { drawn = 0 }

    /// Takes the lines away.
    mutating func clear() { draw([]) }
}
