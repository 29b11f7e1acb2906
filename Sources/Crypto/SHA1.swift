import COpenSSL
import Text

/// The SHA-1 digest of the bytes in hexadecimal, by which Redis identifies a script. The corresponding C function is
/// `EVP_Digest`.
package func sha1(_ bytes: [UInt8]) -> String {
    var digest = [UInt8](repeating: 0, count: Int(EVP_MAX_MD_SIZE))
    var length: UInt32 = 0
    guard EVP_Digest(bytes, bytes.count, &digest, &length, EVP_sha1(), nil) == 1 else {
        fatalError("OpenSSL does not provide SHA-1, which EVALSHA requires")
    }
    return digest.prefix(Int(length)).hexadecimal
}
