/// The version of the messages between the worker and its children; both sides of a `hello` must have the same.
package let slotProtocolVersion = 19

/// The descriptor numbers in a child process.
package enum ChildDescriptor {
    /// The control socket, to the worker.
    package static let control: CInt = 3
    /// The link, to the other child of the pair.
    package static let link: CInt = 4
    /// A source that was passed at the start, if there is one.
    package static let source: CInt = 5
}
