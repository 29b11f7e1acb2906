import CLinux

/// The memory that glibc manages for this process.
package enum Heap {
    /// Makes all threads that start later allocate from one heap.
    ///
    /// glibc gives each thread a heap of 64 MiB of address space, keeps several MiB of it for ever, and `malloc_trim` does not
    /// shrink it.
    package static func useOne() { clinux_use_one_heap() }

    /// Returns freed memory to the kernel.
    package static func returnFree() { clinux_return_free_memory() }
}
