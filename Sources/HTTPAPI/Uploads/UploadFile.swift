import Lifecycle

/// An upload that is open for writing. Its lock ends with it.
final class UploadFile: Sendable {
    private let descriptor: Descriptor

    init(_ number: CInt) { descriptor = Descriptor(owning: number) }

    /// Valid while this owner lives.
    var number: CInt { descriptor.number }
}
