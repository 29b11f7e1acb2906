import COpenSSL

/// Compares secrets in a time that depends only on their length. The corresponding C function is `CRYPTO_memcmp`.
package func isEqualInConstantTime(_ left: [UInt8], _ right: [UInt8]) -> Bool {
    left.count == right.count && CRYPTO_memcmp(left, right, left.count) == 0
}
