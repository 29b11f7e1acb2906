import Configuration
import Foundation
import Jobs
import Lifecycle
import SlotIPC
import Slots
import Testing
import Worker

@Suite struct SettingsTests {
    private static func text(_ path: String) throws -> String {
        let root = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../..")
        return String(decoding: try Data(contentsOf: root.appending(path: path)), as: UTF8.self)
    }

    @Test func `the list has each setting that is declared, once`() throws {
        let declared = try ["Settings", "Settings+traces"].flatMap { file in
            try Self.text("Sources/Configuration/\(file).swift").matches(of: /"((?:RESPOOL|OTEL)_[A-Z0-9_]+)"/)
                .map { String($0.1) }
        }
        #expect(declared.count > 50)
        #expect(Settings.all.map(\.name).sorted() == declared.sorted())
        #expect(Set(declared).count == declared.count)
    }

    /// Settings that were given as their defaults make the same configuration as no settings.
    @Test func `a default is what holds where the variable is not set`() throws {
        func shown(_ values: [String: String]) throws -> String {
            let environment = Environment(values)
            return "\(try WorkerConfiguration(environment)) \(try QueueSettings(environment))"
        }
        let plain = try shown([:])
        // The worker takes the queue's own lease where none is set; the others reach no configuration.
        let elsewhere = ["RESPOOL_LEASE", "RESPOOL_REDIS_URL", "RESPOOL_WAIT_REPLICAS"]
        var count = 0
        for setting in Settings.all where !elsewhere.contains(setting.name) {
            guard case .value(let value, _) = setting.fallback else { continue }
            #expect(setting.accepts(value), "\(setting.name)")
            #expect(try shown([setting.name: value]) == plain, "\(setting.name)")
            count += 1
        }
        #expect(count > 25)
        #expect("\(QueueSettings().lease)" == "10.0 seconds")
    }

    @Test func `a web identity is not replaced by the role of the machine`() throws {
        var values = ["AWS_WEB_IDENTITY_TOKEN_FILE": "/token", "AWS_ROLE_ARN": "arn:aws:iam::1:role/a"]
        let fault = try S3Settings(Environment(values)).keysFault
        #expect(fault?.contains("AWS_WEB_IDENTITY_TOKEN_FILE") == true)
        // Keys that are given in another way are used.
        for (name, value) in [
            ("AWS_SHARED_CREDENTIALS_FILE", "/keys"),
            ("AWS_CONTAINER_CREDENTIALS_FULL_URI", "http://169.254.170.23/v1/credentials"),
        ] {
            values[name] = value
            #expect(try S3Settings(Environment(values)).keysFault == nil)
            values[name] = nil
        }
    }

    @Test(arguments: [
        ("RESPOOL_SLOTS", "many", "RESPOOL_SLOTS is 'many': expected a whole number from 1 to 1024"),
        ("RESPOOL_SLOTS", "1025", "RESPOOL_SLOTS is '1025': expected a whole number from 1 to 1024"),
        ("RESPOOL_GRACE", "-1", "RESPOOL_GRACE is '-1': expected a number of seconds from 0 to 86400"),
        (
            "RESPOOL_MAX_SOURCE_BYTES", "0",
            "RESPOOL_MAX_SOURCE_BYTES is '0': expected a whole number of bytes from 1 to 1125899906842624"
        ),
        (
            "RESPOOL_OUTPUT_SCHEMES", "ftp,gopher",
            "RESPOOL_OUTPUT_SCHEMES is 'ftp,gopher': expected some of ftp, ftps, sftp, separated by ','"
        ),
        ("RESPOOL_SANDBOX", "yes", "RESPOOL_SANDBOX is 'yes': expected on, require or off"),
        ("RESPOOL_S3_PATH_STYLE", "1", "RESPOOL_S3_PATH_STYLE is '1': expected true or false"),
        (
            "RESPOOL_PROXY", "ftp://u:secret@p",
            "RESPOOL_PROXY is 'ftp://p': expected a URL, as http://[user:password@]proxy.example.org:3128"
        ),
        (
            "RESPOOL_SSH_KEY_FILE", "/no/such",
            "RESPOOL_SSH_KEY_FILE is '/no/such': expected a file that can be read"
        ),
    ])
    func `an error names the variable, its value and what is expected`(
        name: String, value: String, message: String
    ) throws {
        var values = [name: value]
        if name == "RESPOOL_SSH_KEY_FILE" {
            values["RESPOOL_SOURCE_SCHEMES"] = "sftp"
            values["RESPOOL_SSH_KNOWN_HOSTS"] = #filePath
        }
        let error = #expect(throws: SettingError.self) { try WorkerConfiguration(Environment(values)) }
        #expect(error?.message == message)
    }

    @Test func `the words of a setting are the cases of the type that they become`() throws {
        func words(_ setting: EnvironmentSetting<String>, among words: [String]) -> [String] {
            words.filter(setting.accepts)
        }
        let sandbox = SandboxMode.allCases.map(\.rawValue)
        #expect(words(Settings.sandbox, among: sandbox) == sandbox)
        let scopes = PairScope.allCases.map(\.rawValue)
        #expect(words(Settings.pairPer, among: scopes) == scopes)
        let levels = Log.Level.allCases.map(\.name)
        #expect(words(Settings.log, among: levels) == levels)
        #expect(Settings.log.expected == "debug, info, warning or error")
    }

    @Test func `an environment variable is read when it is asked for, and an empty one counts as unset`() async {
        await #expect(processExitsWith: .success) {
            setenv("RESPOOL_SLOTS", "3", 1)
            precondition(try! Environment.process.value(Settings.slots) == 3)
            setenv("RESPOOL_SLOTS", "", 1)
            precondition(try! Environment.process.value(Settings.slots) == nil)
            setenv("RESPOOL_SLOT", "3", 1)
            precondition(Environment.unknownNames.contains("RESPOOL_SLOT"))
            precondition(!Environment.unknownNames.contains("RESPOOL_SLOTS"))
        }
    }
}
