/// Lines at the bottom of a terminal that are redrawn repeatedly.
struct LiveArea {
    let terminal: Terminal
    private var drawn = 0

    init(_ terminal: Terminal) { self.terminal = terminal }

    /// Replaces the lines; at most as many as the window has are drawn.
    mutating func draw(_ lines: [String]) {
        let size = terminal.size
        let lines = Array(lines.prefix(max(1, size.rows - 1)))
        // Line wrapping is disabled meanwhile, because a wrapped line would occupy more rows than are moved up.
        var text = "\u{1b}[?7l" + (drawn > 0 ? "\r\u{1b}[\(drawn)A\u{1b}[J" : "")
        for line in lines { text += line + "\n" }
        terminal.write(text + "\u{1b}[?7h")
        drawn = lines.count
    }

    /// Keeps the lines in place. Further lines are drawn below them.
    mutating func release() { drawn = 0 }

    /// Removes the lines.
    mutating func clear() { draw([]) }
}
