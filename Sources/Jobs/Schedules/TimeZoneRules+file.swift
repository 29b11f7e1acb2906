import Configuration
import FoundationEssentials
package import JobSchema
import Lifecycle

extension TimeZoneRules {
    /// The rules of a zone in the IANA database, as installed by Debian's `tzdata`.
    package static func named(_ name: String) throws(Failure) -> TimeZoneRules {
        if name == "UTC" { return utc }
        let parts = name.split(separator: "/", omittingEmptySubsequences: false)
        guard name.utf8.count <= 64, parts.allSatisfy({ KeyName.isValid(String($0), also: "+") && !$0.hasPrefix(".") })
        else {
            throw Failure(.invalidRequest, "`\(name)` is not a time zone: write UTC, or a name such as Europe/Berlin")
        }
        let folder = Environment.process.foreign("TZDIR") ?? "/usr/share/zoneinfo"
        guard let data = FileManager.default.contents(atPath: "\(folder)/\(name)") else {
            throw Failure(
                .invalidRequest,
                "there is no time zone `\(name)` in \(folder): give another, such as Europe/Berlin, or install tzdata")
        }
        guard let rules = TimeZoneRules(name: name, file: Array(data)) else {
            throw Failure(.invalidRequest, "\(folder)/\(name) cannot be read as a time zone: give another")
        }
        return rules
    }

    /// The rules in a file of version 2 or later (RFC 8536) without leap seconds; `nil` for other files.
    init?(name: String, file: [UInt8]) {
        var reader = BigEndianReader(file)
        guard let first = TimeZoneHeader(&reader), first.version >= 2 else { return nil }
        reader.skip(first.length(timeBytes: 4))
        guard let header = TimeZoneHeader(&reader), header.leapSeconds == 0, header.types > 0 else { return nil }
        let times = (0..<header.times).map { _ in reader.integer(8) }
        let indices = (0..<header.times).map { _ in Int(reader.integer(1) & 0xff) }
        let offsets = (0..<header.types).map { _ in
            let offset = reader.integer(4)
            reader.skip(2)
            return offset
        }
        reader.skip(header.names + header.standardFlags + header.universalFlags + 1)
        let footer = reader.rest.prefix { $0 != UInt8(ascii: "\n") }
        guard !reader.isShort, indices.allSatisfy({ $0 < offsets.count }) else { return nil }
        let changes = zip(times, indices).map { Change(time: $0, offset: offsets[$1]) }
        let last = changes.last?.offset ?? offsets[0]
        let text = String(decoding: footer, as: UTF8.self)
        guard let rest = text.isEmpty ? YearlyRule(offset: last) : YearlyRule(text) else { return nil }
        self.init(name: name, initial: offsets[0], changes: changes, rest: rest)
    }
}

/// The counts in the header of a block of the file.
private struct TimeZoneHeader {
    let version: Int
    let universalFlags: Int
    let standardFlags: Int
    let leapSeconds: Int
    let times: Int
    let types: Int
    let names: Int

    init?(_ reader: inout BigEndianReader) {
        guard reader.integer(4) == 0x545a_6966 else { return nil }
        version = Int(reader.integer(1)) - Int(UInt8(ascii: "0"))
        reader.skip(15)
        let counts = (0..<6).map { _ in Int(reader.integer(4)) }
        guard !reader.isShort, counts.allSatisfy({ (0...1 << 16).contains($0) }) else { return nil }
        (universalFlags, standardFlags, leapSeconds) = (counts[0], counts[1], counts[2])
        (times, types, names) = (counts[3], counts[4], counts[5])
    }

    func length(timeBytes: Int) -> Int {
        times * (timeBytes + 1) + types * 6 + names + leapSeconds * (timeBytes + 4) + standardFlags + universalFlags
    }
}

/// Reads signed big-endian integers; bytes after the end are 0.
private struct BigEndianReader {
    private var bytes: ArraySlice<UInt8>
    private(set) var isShort = false

    init(_ bytes: [UInt8]) { self.bytes = bytes[...] }

    var rest: ArraySlice<UInt8> { bytes }

    mutating func integer(_ count: Int) -> Int64 {
        var value = bytes.first.map { Int64(Int8(bitPattern: $0)) } ?? 0
        for byte in bytes.dropFirst().prefix(count - 1) { value = value << 8 | Int64(byte) }
        skip(count)
        return value
    }

    mutating func skip(_ count: Int) {
        isShort = isShort || bytes.count < count
        bytes = bytes.dropFirst(count)
    }
}
