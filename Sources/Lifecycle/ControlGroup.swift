import CLinux
import Glibc
import Synchronization

/// A control group of one child below that of this process, in which the kernel limits the number of threads (cgroups(7), `pids.max`).
///
/// Version 1 takes the rights of root. Version 2 takes a group that systemd has delegated to an ordinary user; it becomes a threaded
/// domain, so that this process stays in it. Only workers create any: a command is in the group of its user's terminal.
package struct ControlGroup: Sendable {
    private let folder: String

    /// Whether this process can create them. A worker asks before it starts children; a process that has not asked creates none.
    package static var isAvailable: Bool {
        isAsked.store(true, ordering: .relaxed)
        return parent != nil
    }

    /// Whether this process has asked and can create them.
    package static var isInUse: Bool { isAsked.load(ordering: .relaxed) && parent != nil }

    private static let isAsked = Atomic(false)

    /// Moves a process and its threads into a new group; `nil` if there can be none.
    package init?(of pid: CInt, maxThreads: Int) {
        guard Self.isInUse, let parent = Self.parent else { return nil }
        self.init(parent, name: "\(pid)", maxThreads: maxThreads)
        guard Self.write("\(pid)", to: "\(folder)/cgroup.procs") else {
            remove()
            return nil
        }
    }

    private init?(_ parent: Parent, name: String, maxThreads: Int) {
        folder = "\(parent.folder)/\(Self.prefix)\(getpid())-\(name)"
        // One of an earlier process with the same id.
        rmdir(folder)
        guard mkdir(folder, 0o755) == 0 else { return nil }
        guard !parent.isThreaded || Self.write("threaded", to: "\(folder)/cgroup.type"), limit(threads: maxThreads)
        else {
            remove()
            return nil
        }
    }

    /// Changes the number of threads; returns whether it holds.
    package func limit(threads: Int) -> Bool { Self.write("\(threads)", to: "\(folder)/pids.max") }

    /// Moves the process back, and removes the group.
    package func release(_ pid: CInt) {
        _ = Self.write("\(pid)", to: "\(folder)/../cgroup.procs")
        remove()
    }

    /// Removes the group, which must be empty.
    package func remove() { rmdir(folder) }

    // MARK: The group of this process

    private struct Parent: Sendable {
        let folder: String
        let isThreaded: Bool
    }

    private static let prefix = "respool-"

    private static let parent = (ProcessFile.text(of: "/proc/self/mountinfo", bytes: 1 << 20) ?? "").split(
        separator: "\n"
    )
    .lazy.compactMap(parent).first(where: isUsable)

    /// The group of this process in a hierarchy that counts threads, by the line of its mount (proc_pid_mountinfo(5)).
    private static func parent(mount: Substring) -> Parent? {
        let words = mount.split(separator: " ")
        guard words.count > 9, let dash = words.firstIndex(of: "-"), dash + 3 < words.count else { return nil }
        let isThreaded = words[dash + 1] == "cgroup2"
        let counts = words[dash + 1] == "cgroup" && words[dash + 3].split(separator: ",").contains("pids")
        guard isThreaded || counts, let groups = ProcessFile.text(of: "/proc/self/cgroup", bytes: 1 << 16) else {
            return nil
        }
        // `8:pids:/path`, and `0::/path` in version 2.
        let fields = groups.split(separator: "\n").map {
            $0.split(separator: ":", maxSplits: 2, omittingEmptySubsequences: false)
        }
        let own = fields.first {
            $0.count == 3 && (isThreaded ? $0[0] == "0" : $0[1].split(separator: ",").contains("pids"))
        }
        guard let path = own?[2], words[3] == "/" || path.hasPrefix(words[3]) else { return nil }
        let folder = words[4] + (words[3] == "/" ? path : path.dropFirst(words[3].count))
        return Parent(folder: String(folder), isThreaded: isThreaded)
    }

    /// Whether a group can be created below, which it tries. Removes those of processes that were killed.
    private static func isUsable(_ parent: Parent) -> Bool {
        if parent.isThreaded {
            // Other groups are systemd's alone, also where this user may write to them.
            guard geteuid() != 0, isDelegated(parent.folder),
                write("+pids", to: "\(parent.folder)/cgroup.subtree_control")
            else { return false }
        }
        guard let trial = ControlGroup(parent, name: "0", maxThreads: 1) else { return false }
        trial.remove()
        removeOld(below: parent.folder)
        return true
    }

    /// Whether systemd has marked the group (`Delegate=`).
    private static func isDelegated(_ folder: String) -> Bool {
        ["user.delegate", "trusted.delegate"].contains { name in
            var value = [UInt8](repeating: 0, count: 8)
            return clinux_get_attribute(folder, name, &value, value.count) == 1 && value[0] == UInt8(ascii: "1")
        }
    }

    private static func removeOld(below parent: String) {
        guard let listing = opendir(parent) else { return }
        defer { closedir(listing) }
        while let entry = readdir(listing) {
            let name = withUnsafeBytes(of: entry.pointee.d_name) {
                String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
            }
            guard name.hasPrefix(prefix), let pid = pid_t(name.dropFirst(prefix.count).prefix { $0 != "-" }) else {
                continue
            }
            // One that has processes stays.
            if kill(pid, 0) != 0, errno == ESRCH { rmdir("\(parent)/\(name)") }
        }
    }

    private static func write(_ text: String, to path: String) -> Bool {
        let file = open(path, O_WRONLY | O_CLOEXEC)
        guard file >= 0 else { return false }
        defer { close(file) }
        return Glibc.write(file, text, text.utf8.count) == text.utf8.count
    }
}
