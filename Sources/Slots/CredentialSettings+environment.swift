package import Configuration
import JobSchema
package import SlotIPC

extension CredentialSettings {
    /// Where the environment says that credentials are; all of them must be well-formed.
    package init(_ environment: Environment) throws(SettingError) {
        self.init()
        file = environment.text(Settings.credentialsFile)
        lines = environment.text(Settings.credentials)
        do { _ = try read() } catch { throw SettingError(message: error.message) }
    }
}
