/// A value that is encoded as `null` if it is `nil`; a plain optional would omit the key.
@propertyWrapper
package struct Nullable<Value: Encodable & Sendable>: Encodable, Sendable {
    /// `nil` is encoded as `null`.
    package var wrappedValue: Value?

    package init(wrappedValue: Value?) { self.wrappedValue = wrappedValue }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(wrappedValue)
    }
}
