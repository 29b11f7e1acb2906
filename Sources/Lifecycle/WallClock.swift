package import Glibc

/// The time of day, in the format of all log lines and replies.
package enum WallClock {
    /// Milliseconds since 1970-01-01T00:00:00Z.
    package static func milliseconds() -> Int64 {
        var now = timespec()
        clock_gettime(CLOCK_REALTIME, &now)
        return milliseconds(of: now)
    }

    /// Nanoseconds since 1970-01-01T00:00:00Z.
    package static func nanoseconds() -> Int64 {
        var now = timespec()
        clock_gettime(CLOCK_REALTIME, &now)
        return nanoseconds(of: now)
    }

    /// A time in milliseconds, rounded down.
    package static func milliseconds(of time: timespec) -> Int64 {
        Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000
    }

    /// A time in nanoseconds, which tells two changes of a file apart.
    package static func nanoseconds(of time: timespec) -> Int64 {
        Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
    }

    /// The structure for a time in milliseconds since 1970.
    package static func time(milliseconds: Int64) -> timespec {
        let seconds = milliseconds.floorDivided(by: 1000)
        return timespec(tv_sec: time_t(seconds), tv_nsec: Int(milliseconds - seconds * 1000) * 1_000_000)
    }

    /// An instant as ISO 8601 in UTC with milliseconds; the default is now.
    package static func timestamp(milliseconds: Int64 = milliseconds()) -> String {
        var seconds = time_t(milliseconds.floorDivided(by: 1000))
        let fraction = Int(milliseconds - Int64(seconds) * 1000)
        var parts = tm()
        gmtime_r(&seconds, &parts)
        func padded(_ value: Int32, _ width: Int) -> String {
            let digits = String(value)
            return String(repeating: "0", count: max(0, width - digits.count)) + digits
        }
        let day = "\(padded(parts.tm_year + 1900, 4))-\(padded(parts.tm_mon + 1, 2))-\(padded(parts.tm_mday, 2))"
        let time = "\(padded(parts.tm_hour, 2)):\(padded(parts.tm_min, 2)):\(padded(parts.tm_sec, 2))"
        return "\(day)T\(time).\(padded(Int32(fraction), 3))Z"
    }
}

extension Int64 {
    /// The quotient, rounded towards minus infinity.
    package func floorDivided(by divisor: Int64) -> Int64 {
        let (quotient, remainder) = quotientAndRemainder(dividingBy: divisor)
        return remainder < 0 ? quotient - 1 : quotient
    }
}
