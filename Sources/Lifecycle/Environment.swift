import Glibc

/// The environment variables of this process.
package enum Environment {
    /// A variable's value; `nil` if it is unset or empty.
    package static func value(_ name: String) -> String? {
        guard let pointer = getenv(name) else { return nil }
        let value = String(cString: pointer)
        return value.isEmpty ? nil : value
    }
}
