/// The column widths shared by the lines of several conversions: id, label, bar and figures.
struct ProgressLineStyle: Sendable {
    let terminal: Terminal
    let columns: Int
    /// 0 if the lines have no ids.
    private let idWidth: Int
    private let labelWidth: Int
    let barWidth: Int
    /// 0 if there is no room for the position.
    let positionWidth: Int

    static let percentWidth = 5
    /// `1234×`
    static let speedWidth = 5
    /// `1:02:03 left`
    static let leftWidth = 12
    private static let minBarWidth = 10
    private static let minLabelWidth = 8

    init(terminal: Terminal, lines: [ProgressLine], labels: [String] = []) {
        self.terminal = terminal
        columns = terminal.size.columns
        func widest(_ texts: [String]) -> Int { texts.map { TextLayout.columns($0) }.max() ?? 0 }
        let ids = widest(lines.compactMap(\.id))
        idWidth = ids > 0 ? ids + 2 : 0
        let position = widest(lines.map(\.position))
        let compact = Self.percentWidth + 2 + Self.speedWidth + 2 + Self.leftWidth
        let label = min(max(widest(lines.map(\.label) + labels), Self.minLabelWidth), max(8, columns * 2 / 5))
        let fixed = idWidth + 2 + Self.minBarWidth + 2
        positionWidth = fixed + min(label, 20) + compact + 2 + position > columns ? 0 : position
        let figures = compact + (positionWidth > 0 ? positionWidth + 2 : 0)
        labelWidth = max(Self.minLabelWidth, min(label, columns - fixed - figures))
        barWidth = min(30, max(4, columns - idWidth - labelWidth - 4 - figures))
    }

    /// The id and the label, fitted to their columns.
    func head(id: String?, label: String) -> String {
        let id = idWidth > 0 ? TextLayout.fitted(id ?? "", width: idWidth - 2, mark: terminal.ellipsis) + "  " : ""
        return id + TextLayout.fitted(label, width: labelWidth, mark: terminal.ellipsis) + "  "
    }

    /// The number of columns to the right of the id and the label.
    var room: Int { max(0, columns - idWidth - labelWidth - 2) }
}
