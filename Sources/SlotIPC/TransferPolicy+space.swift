import Glibc

extension TransferPolicy {
    /// Whether the folders of spools have enough free space for sources that are fetched before their jobs begin. The
    /// corresponding C function is `statvfs`.
    package var hasSpaceToPrefetch: Bool {
        [spoolFolder, cacheFolder].compactMap(\.self).allSatisfy { folder in
            var system = statvfs()
            guard statvfs(folder, &system) == 0 else { return false }
            let (free, overflows) = UInt64(system.f_bavail).multipliedReportingOverflow(by: UInt64(system.f_frsize))
            return overflows || free >= UInt64(clamping: prefetchReserve)
        }
    }
}
