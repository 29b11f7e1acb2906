import COpenSSL

/// The HMAC with SHA-256 of a message, by which the receiver verifies its sender (RFC 2104). The corresponding C
/// function is `EVP_Q_mac`.
package func hmacSHA256(_ message: [UInt8], key: [UInt8]) -> [UInt8] {
    var code = [UInt8](repeating: 0, count: 32)
    var length = 0
    let found = EVP_Q_mac(
        nil, "HMAC", nil, "SHA256", nil, key, key.count, message, message.count, &code, code.count, &length)
    guard found != nil, length == code.count else { fatalError("OpenSSL does not provide HMAC-SHA256") }
    return code
}
