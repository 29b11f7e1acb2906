import Glibc
import Lifecycle

/// The two ends of a pipe, with close-on-exec set. The owner must close each end or pass it on.
struct Pipe {
    let reader: CInt
    let writer: CInt

    init() throws(Errno) {
        var ends: [CInt] = [-1, -1]
        guard pipe(&ends) == 0 else { throw .last }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        (reader, writer) = (ends[0], ends[1])
    }

    /// A file to read from instead of a pipe.
    init(reading path: String) throws(Errno) {
        reader = open(path, O_RDONLY | O_CLOEXEC)
        writer = -1
        guard reader >= 0 else { throw .last }
    }

    func closeReader() { close(reader) }

    func closeWriter() { close(writer) }
}
