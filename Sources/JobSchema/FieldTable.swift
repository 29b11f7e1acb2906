/// A job's fields by name.
///
/// A job has few fields, and about a hundred are looked up: comparing short names is faster than hashing them.
struct FieldTable {
    private let entries: [(name: String, value: String)]

    init(_ fields: [String: String]) {
        entries = fields.map { (name: $0.key, value: $0.value) }
    }

    /// The fields for which the condition holds, which is asked in the order of their names.
    init(_ fields: [String: String], where isIncluded: (String, String) -> Bool) {
        entries = fields.sorted { $0.key < $1.key }.filter { isIncluded($0.key, $0.value) }
            .map { (name: $0.key, value: $0.value) }
    }

    subscript(name: String) -> String? {
        let length = name.utf8.count
        for entry in entries where entry.name.utf8.count == length && entry.name == name { return entry.value }
        return nil
    }

    /// The fields for which the condition holds.
    func filter(_ isIncluded: (String) -> Bool) -> [String: String] {
        Dictionary(uniqueKeysWithValues: entries.filter { isIncluded($0.name) }.map { ($0.name, $0.value) })
    }
}
