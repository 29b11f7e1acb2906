import Glibc

/// The only owner of an open file descriptor, which closes it.
package struct Descriptor: ~Copyable, Sendable {
    /// The borrowed number; valid while this owner lives.
    package let number: CInt

    /// Takes ownership: the caller must not close the number any more.
    package init(owning number: CInt) { self.number = number }

    deinit { close(number) }

    /// Releases ownership and returns the number, which the caller must close.
    package consuming func release() -> CInt {
        let number = number
        discard self
        return number
    }

    /// A second descriptor of the same open file, with close-on-exec set.
    package borrowing func duplicate() throws(Errno) -> Descriptor {
        let copy = fcntl(number, F_DUPFD_CLOEXEC, 5)
        guard copy >= 0 else { throw .last }
        return Descriptor(owning: copy)
    }
}
