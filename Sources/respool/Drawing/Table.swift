/// Rows of cells under a heading, each column as wide as its widest cell.
struct Table {
    /// On which side a column's cells stand.
    enum Alignment: Sendable {
        case left, right
    }

    private let headings: [String]
    private let alignments: [Alignment]
    private var rows: [[Cell]] = []

    /// One cell: its text, and the colour on a terminal.
    struct Cell: ExpressibleByStringInterpolation, Sendable {
        let text: String
        let color: Terminal.Color?

        init(_ text: String, _ color: Terminal.Color? = nil) {
            self.text = TextLayout.printable(text)
            self.color = color
        }

        init(stringLiteral value: String) { self.init(value) }
    }

    init(_ columns: KeyValuePairs<String, Alignment>) {
        headings = columns.map(\.key)
        alignments = columns.map(\.value)
    }

    mutating func append(_ row: [Cell]) {
        precondition(row.count == headings.count, "a row has a cell for each column")
        rows.append(row)
    }

    /// The lines of the table: aligned on a terminal, where the last column is cut to fit; otherwise the same, uncut.
    func lines(for terminal: Terminal) -> [String] {
        let all = [headings.map { Cell($0, .faint) }] + rows
        let widths = headings.indices.map { column in all.map { TextLayout.columns($0[column].text) }.max() ?? 0 }
        let room = terminal.isInteractive ? terminal.size.columns : Int.max
        return all.map { line($0, widths, room, terminal) }
    }

    private func line(_ row: [Cell], _ widths: [Int], _ room: Int, _ terminal: Terminal) -> String {
        var (line, used) = ("", 0)
        for (column, cell) in row.enumerated() {
            let isLast = column == row.count - 1
            let width = min(widths[column], max(0, room - used))
            let text =
                isLast && alignments[column] == .left
                ? TextLayout.cut(cell.text, width: width, mark: terminal.ellipsis)
                : TextLayout.fitted(
                    cell.text, width: width, mark: terminal.ellipsis, isRight: alignments[column] == .right)
            line += terminal.colored(text, cell.color) + (isLast ? "" : "  ")
            used += width + 2
        }
        while line.last == " " { line.removeLast() }
        return line
    }
}
