import Glibc
import Lifecycle
package import SlotProtocol

/// An output that waits in the spool folder until it is copied to an open descriptor, such as a pipe.
package struct StreamedFile: ~Copyable {
    package private(set) var file: SealableFile

    package static func create(policy: TransferPolicy) throws(Failure) -> StreamedFile {
        StreamedFile(file: try sealableFile(in: policy.spoolFolder, for: "the output"))
    }

    /// Has the copy in the file's place, and answers it.
    package mutating func replace(by copy: consuming FileCopy) -> SealableFile {
        file = copy.file
        return file
    }

    /// Copies all bytes to the target; answers false as soon as `interruption` is readable.
    ///
    /// A pipe that polls as writable takes `PIPE_BUF` bytes without waiting; its mode is left alone, as others may share it.
    package func copy(to target: CInt, unlessReadable interruption: CInt) throws(Failure) -> Bool {
        var offset: Int64 = 0
        while waitUntilWritable(target, unlessReadable: interruption) {
            let written = try copyStep(at: offset, to: target)
            guard written > 0 else { return true }
            offset += written
        }
        return false
    }

    private func copyStep(at offset: Int64, to target: CInt) throws(Failure) -> Int64 {
        let source = file.number
        return try withUnsafeTemporaryAllocation(byteCount: Int(PIPE_BUF), alignment: 16) {
            (buffer) throws(Failure) -> Int64 in
            let count = pread(source, buffer.baseAddress, buffer.count, off_t(offset))
            guard count >= 0 else { throw Failure(.outputFailed, "the staged output cannot be read: \(Errno.last)") }
            var done = 0
            while done < count {
                let written = write(target, buffer.baseAddress! + done, count - done)
                if written >= 0 {
                    done += written
                } else if errno != EINTR, errno != EAGAIN {
                    throw .writing("the output", .last, otherwise: .outputFailed)
                }
            }
            return Int64(done)
        }
    }

    private func waitUntilWritable(_ target: CInt, unlessReadable interruption: CInt) -> Bool {
        var entries = [
            pollfd(fd: target, events: Int16(POLLOUT), revents: 0),
            pollfd(fd: interruption, events: Int16(POLLIN), revents: 0),
        ]
        while poll(&entries, 2, -1) < 0, errno == EINTR {}
        return entries[1].revents == 0
    }
}
