package import JobSchema
import Lifecycle
package import SlotIPC

extension CredentialSettings {
    /// The settings from `RESPOOL_CREDENTIALS_FILE` and `RESPOOL_CREDENTIALS`; throws if a credential is malformed.
    package static func fromEnvironment() throws(Failure) -> CredentialSettings {
        var settings = CredentialSettings()
        settings.file = Environment.value("RESPOOL_CREDENTIALS_FILE")
        settings.lines = Environment.value("RESPOOL_CREDENTIALS")
        do { _ = try settings.read() } catch { throw Failure(.invalidRequest, error.message) }
        return settings
    }
}
