import Glibc
package import JobSchema
import Lifecycle
package import SlotIPC

/// An output in the spool folder that is copied to an open descriptor, such as a pipe.
package struct StreamedFile: ~Copyable {
    /// The file in the spool folder, which the transcoder writes.
    package private(set) var file: SealableFile
    /// Bytes copied so far.
    private var copied: Int64 = 0

    /// The progress of the copy.
    package enum Copying {
        case underWay
        /// The interruption descriptor is readable.
        case interrupted
        case complete
    }

    /// Makes a file without a name in the spool folder.
    package static func create(policy: TransferPolicy) throws(Failure) -> StreamedFile {
        StreamedFile(file: try sealableFile(in: policy.spoolFolder, for: "the output"))
    }

    /// Replaces the file by the copy, and returns it.
    package mutating func replace(by copy: consuming FileCopy) -> SealableFile {
        file = copy.file
        return file
    }

    /// Copies bytes to the target until all are copied, `interruption` is readable, or the duration has elapsed.
    ///
    /// A pipe that polls as writable accepts `PIPE_BUF` bytes without blocking. The target stays in blocking mode, because
    /// other processes may share it.
    package mutating func copy(
        to target: CInt, unlessReadable interruption: CInt, for duration: Duration
    ) throws(Failure) -> Copying {
        let end = ContinuousClock.now + duration
        while true {
            let left = Int((end - .now).milliseconds)
            guard left > 0 else { return .underWay }
            var entries = [
                pollfd(fd: target, events: Int16(POLLOUT), revents: 0),
                pollfd(fd: interruption, events: Int16(POLLIN), revents: 0),
            ]
            poll(&entries, 2, CInt(left))
            if entries[1].revents != 0 { return .interrupted }
            guard entries[0].revents != 0 else { continue }
            let written = try copyStep(to: target)
            guard written > 0 else { return .complete }
            copied += written
        }
    }

    private func copyStep(to target: CInt) throws(Failure) -> Int64 {
        let (source, offset) = (file.number, copied)
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
}
