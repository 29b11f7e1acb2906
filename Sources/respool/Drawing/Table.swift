/// A table with a header row. Each column is as wide as its widest cell.
struct Table {
    /// The alignment of the cells in a column.
    enum Alignment: Sendable {
        case left, right
    }

    private let headings: [String]
    private let alignments: [Alignment]
    private var rows: [[Cell]] = []

    /// A cell: its text, and its color on a terminal.
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
        precondition(row.count == headings.count, "a row must have a cell for each column")
        rows.append(row)
    }

    /// The lines of the table. On a terminal, wide columns are cut to fit.
    func lines(for terminal: Terminal) -> [String] {
        let all = [headings.map { Cell($0, .faint) }] + rows
        let natural = headings.indices.map { column in all.map { TextLayout.columns($0[column].text) }.max() ?? 0 }
        let room = terminal.isInteractive ? terminal.size.columns : Int.max
        let widths = fitted(natural, in: room)
        return all.map { line($0, widths, room, terminal) }
    }

    /// The column widths for the available room. The text columns after the first share what the others leave; a column is only
    /// cut if it is wider than its share.
    private func fitted(_ widths: [Int], in room: Int) -> [Int] {
        guard room < Int.max else { return widths }
        var flexible = widths.indices.filter { $0 > 0 && alignments[$0] == .left }
        var left = room - 2 * (widths.count - 1)
        for column in widths.indices where !flexible.contains(column) { left -= widths[column] }
        var fitted = widths
        while !flexible.isEmpty {
            let share = max(0, left) / flexible.count
            let narrow = flexible.filter { widths[$0] <= share }
            guard !narrow.isEmpty else {
                for (place, column) in flexible.enumerated() {
                    fitted[column] = share + (place == flexible.count - 1 ? max(0, left) % flexible.count : 0)
                }
                break
            }
            for column in narrow { left -= widths[column] }
            flexible.removeAll { narrow.contains($0) }
        }
        return fitted
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
