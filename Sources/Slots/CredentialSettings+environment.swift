package import JobSchema
import Lifecycle
package import SlotIPC

extension CredentialSettings {
    /// Where `RESPOOL_CREDENTIALS_FILE` and `RESPOOL_CREDENTIALS` say that credentials are; all of them must be well-formed.
    package static func fromEnvironment() throws(Failure) -> CredentialSettings {
        var settings = CredentialSettings()
        settings.file = Environment.value("RESPOOL_CREDENTIALS_FILE")
        settings.lines = Environment.value("RESPOOL_CREDENTIALS")
        do { _ = try settings.read() } catch { throw Failure(.invalidRequest, error.message) }
        return settings
    }
}
