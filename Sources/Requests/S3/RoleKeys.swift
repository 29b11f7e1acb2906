import FoundationEssentials
import JobSchema
import SlotIPC

/// The temporary keys of a container's or an instance's role, which are renewed shortly before they expire.
///
/// The endpoints come from the operator's settings only. The URLs of a job are subject to the address policy, and cannot reach
/// them.
final class RoleKeys {
    private let settings: S3Settings
    private let certificateFile: String?
    private var held: (keys: S3Keys, end: Date, time: ContinuousClock.Instant)?
    /// The result of the last request, if it failed.
    private var refusal: (failure: Failure, time: ContinuousClock.Instant)?

    /// Seconds before expiry at which keys are renewed.
    private static let reserve: TimeInterval = 300
    /// Minimum interval between failed requests.
    private static let pause = Duration.seconds(10)

    init(_ settings: S3Settings, certificateFile: String?) {
        self.settings = settings
        self.certificateFile = certificateFile
    }

    /// The keys; `nil` if no role is configured.
    func keys() throws(Failure) -> S3Keys? {
        guard settings.container != nil || settings.instanceEndpoint != nil else { return nil }
        if let held {
            let left = held.end.timeIntervalSinceNow
            // If the endpoint returns the same keys again, they are not requested for each S3 request either.
            let isNew = held.time.duration(to: .now) < .seconds(settings.renewalPause)
            if left > Self.reserve || left > 0 && isNew { return held.keys }
        }
        if let refusal, refusal.time.duration(to: .now) < Self.pause { return try left(refusal.failure) }
        do throws(Failure) {
            let (keys, end) = try fetch()
            held = (keys, end, .now)
            return keys
        } catch {
            refusal = (error, .now)
            return try left(error)
        }
    }

    /// The current keys, if they are still valid after a failed renewal.
    private func left(_ failure: Failure) throws(Failure) -> S3Keys {
        guard let held, held.end > Date() else { throw failure }
        return held.keys
    }

    private func fetch() throws(Failure) -> (S3Keys, Date) {
        if let container = settings.container {
            return try Self.read(ask(container.url, try container.header()), container.url)
        }
        guard let endpoint = settings.instanceEndpoint else {
            throw Failure(.internal, "no source of role credentials is configured")
        }
        let token = try ask(
            endpoint + "/latest/api/token", ["X-aws-ec2-metadata-token-ttl-seconds: 300"], method: "PUT")
        let header = ["X-aws-ec2-metadata-token: \(try Self.word(token, endpoint))"]
        let folder = endpoint + "/latest/meta-data/iam/security-credentials/"
        let role = try Self.word(ask(folder, header), folder)
        return try Self.read(ask(folder + S3Object.encodedValue(role), header), folder)
    }

    private func ask(_ url: String, _ header: [String], method: String = "GET") throws(Failure) -> [UInt8] {
        try OperatorRequest.answer(of: url, header, method: method, certificateFile: certificateFile)
    }

    /// A response that is a single word, safe for a header or a path.
    private static func word(_ bytes: [UInt8], _ url: String) throws(Failure) -> String {
        let line = bytes.prefix { $0 != 0x0a && $0 != 0x0d }
        guard !line.isEmpty, line.allSatisfy({ (0x21...0x7e).contains($0) }) else {
            throw Failure(.sourceDenied, "'\(redactedURL(url))' returns no role with S3 keys", retryable: true)
        }
        return String(decoding: line, as: UTF8.self)
    }

    private static func read(_ bytes: [UInt8], _ url: String) throws(Failure) -> (S3Keys, Date) {
        struct Answer: Decodable {
            let AccessKeyId: String
            let SecretAccessKey: String
            let Token: String?
            let Expiration: String?
        }
        guard let answer = try? JSONDecoder().decode(Answer.self, from: Data(bytes)) else {
            throw Failure(.sourceDenied, "'\(redactedURL(url))' returns no S3 keys", retryable: true)
        }
        let end = answer.Expiration.map { Instant.milliseconds(parsing: $0).map { Double($0) / 1000 } ?? 0 }
        let keys = S3Keys(
            identifier: answer.AccessKeyId, secret: answer.SecretAccessKey, sessionToken: answer.Token)
        return (keys, end.map(Date.init(timeIntervalSince1970:)) ?? .distantFuture)
    }
}

extension S3RoleSource {
    /// The header line with the token. The token file is read each time, because it may be replaced.
    fileprivate func header() throws(Failure) -> [String] {
        var token = token
        if let tokenFile {
            guard let text = KeyFile.text(tokenFile) else {
                throw Failure(
                    .sourceDenied, "AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE cannot be read: '\(tokenFile)'",
                    retryable: true)
            }
            token = text
        }
        let line = token?.prefix { $0.isASCII && !$0.isNewline } ?? ""
        return line.isEmpty ? [] : ["Authorization: \(line)"]
    }
}
