/// The gain of each source channel in each output channel.
package struct MixMatrix: Codable, Hashable, Sendable {
    /// One row for each output channel.
    package var rows: [Row]

    /// One output channel.
    package struct Row: Codable, Hashable, Sendable {
        /// The output channel.
        package var channel: ChannelReference
        /// The source channels that are added up.
        package var terms: [Term]
    }

    /// The contribution of a source channel.
    package struct Term: Codable, Hashable, Sendable {
        /// Linear: 0.5 is −6 dB.
        package var factor: Double
        /// The source channel.
        package var channel: ChannelReference
    }

    /// Parses rows such as `FL=FL+0.707FC,FR=FR+0.707FC` or `c1=0.5c1-0.5c2`; `nil` if the text is invalid.
    package init?(parsing text: String) {
        var rows: [Row] = []
        for part in text.split(separator: ",", omittingEmptySubsequences: false) {
            let sides = part.split(separator: "=", omittingEmptySubsequences: false)
            guard sides.count == 2, !(sides[0].first?.isNumber ?? true),
                let channel = ChannelReference(parsing: sides[0]),
                let terms = Self.terms(sides[1])
            else { return nil }
            rows.append(Row(channel: channel, terms: terms))
        }
        let numbers = rows.compactMap { if case .number(let number) = $0.channel { number } else { nil } }
        let isNumbered = numbers == Array(1...max(rows.count, 1))
        guard (1...64).contains(rows.count), Set(rows.map(\.channel)).count == rows.count,
            numbers.isEmpty || isNumbered
        else { return nil }
        self.rows = rows
    }

    private static func terms(_ text: Substring) -> [Term]? {
        var terms: [Term] = []
        var rest = text
        repeat {
            let sign = rest.first == "-" ? -1.0 : 1.0
            if rest.first == "-" || rest.first == "+" { rest = rest.dropFirst() }
            let digits = rest.prefix { $0.isNumber || $0 == "." }
            let name = rest.dropFirst(digits.count).prefix { $0 != "+" && $0 != "-" }
            guard let factor = digits.isEmpty ? 1 : Double(digits), factor <= 100, !(name.first?.isNumber ?? true),
                let channel = ChannelReference(parsing: name)
            else { return nil }
            terms.append(Term(factor: sign * factor, channel: channel))
            rest = rest.dropFirst(digits.count + name.count)
        } while !rest.isEmpty
        return terms
    }
}

extension MixMatrix: CustomStringConvertible {
    package var description: String {
        rows.map { row in
            "\(row.channel)=" + row.terms.map { "\($0.factor < 0 ? "" : "+")\($0.factor)\($0.channel)" }.joined()
        }.joined(separator: ",")
    }
}
