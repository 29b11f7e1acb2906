import Crypto
import JobSchema
import Lifecycle
package import SlotIPC
import Text

/// How a request is authenticated.
package enum Authorization: Sendable {
    /// No separate credentials; the URL or a header line may contain some.
    case none
    case s3(S3Keys, region: String)
}

extension RequestTarget {
    /// The header lines of a request: those given, those of the target and, for an object, its signature, which covers all of
    /// them (AWS Signature Version 4 for S3, with the SHA-256 of the whole body).
    ///
    /// The path of the URL must be encoded, and the parts of its query sorted, as S3 requires.
    func signed(
        _ lines: [String], method: String, timestamp: String = WallClock.timestamp(),
        bodySum: () throws(Failure) -> String
    ) throws(Failure) -> [String] {
        guard case .s3(let keys, let region) = authorization else { return lines + headers }
        let address = url.drop { $0 != "/" }.dropFirst(2)
        let host = address.prefix { $0 != "/" && $0 != "?" }
        let path = address.dropFirst(host.count).prefix { $0 != "?" }
        let query = address.dropFirst(host.count + path.count + 1)
        let sum = try bodySum()
        // 2013-05-24T00:00:00.000Z as 20130524T000000Z.
        let time = timestamp.prefix(19).filter { $0 != "-" && $0 != ":" } + "Z"
        let scope = "\(time.prefix(8))/\(region)/s3/aws4_request"

        var all = lines + headers + ["Host: \(host)", "x-amz-content-sha256: \(sum)", "x-amz-date: \(time)"]
        if let token = keys.sessionToken { all.append("x-amz-security-token: \(token)") }
        let fields = all.map { line in
            let name = line.prefix { $0 != ":" }
            let words = line.dropFirst(name.count + 1).split(separator: " ")
            return (name: name.lowercased(), value: words.joined(separator: " "))
        }.sorted { $0.name < $1.name }
        let names = fields.map(\.name).joined(separator: ";")
        let parameters = query.split(separator: "&").map { $0.contains("=") ? String($0) : "\($0)=" }
        let request =
            [method, path.isEmpty ? "/" : String(path), parameters.joined(separator: "&")]
            + fields.map { "\($0.name):\($0.value)" } + ["", names, sum]
        let text = ["AWS4-HMAC-SHA256", time, scope, Digest.of(Array(request.joined(separator: "\n").utf8))]
        var key = Array("AWS4\(keys.secret)".utf8)
        for part in scope.split(separator: "/") { key = hmacSHA256(Array(part.utf8), key: key) }
        let signature = hmacSHA256(Array(text.joined(separator: "\n").utf8), key: key).hexadecimal
        all.append(
            "Authorization: AWS4-HMAC-SHA256 Credential=\(keys.identifier)/\(scope),SignedHeaders=\(names),"
                + "Signature=\(signature)")
        return all
    }
}
