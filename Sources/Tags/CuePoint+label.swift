import Bytes

extension CuePoint {
    /// The text of its label, whose character set is not declared.
    func label(_ charset: String?) -> String {
        notes.first { $0.kind == "labl" }.map { TagCharsets.decode($0.bytes, charset) } ?? ""
    }
}
