#ifndef CSERVERTLS_H
#define CSERVERTLS_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/// A chain of certificates and the private key of the first one.
struct cservertls_certificate;

/// Why a certificate or a key cannot be used.
enum cservertls_problem { CSERVERTLS_CHAIN, CSERVERTLS_KEY, CSERVERTLS_PASSPHRASE, CSERVERTLS_MISMATCH };

/// TLS 1.2 and 1.3, only with forward secrecy and authenticated encryption.
extern const char *const cservertls_priorities;

/// Parses certificates, that of the server first, and its key, both in PEM; NULL, the problem and a text of GnuTLS if they are wrong.
struct cservertls_certificate *cservertls_load(
    const void *chain, size_t chain_size, const void *key, size_t key_size, enum cservertls_problem *problem, const char **text);

/// When the first certificate expires, in seconds since 1970.
int64_t cservertls_expires(const struct cservertls_certificate *certificate);

/// Each reference is released once; that of `load` is the first.
void cservertls_retain(struct cservertls_certificate *certificate);
void cservertls_release(struct cservertls_certificate *certificate);

/// What libmicrohttpd takes as MHD_OPTION_HTTPS_CERT_CALLBACK: each connection presents the certificate that is its socket context, and
/// has a reference to it.
const void *cservertls_callback(void);

/// Writes the last bytes to a session and closes its sending side; false if it does not take them at once.
bool cservertls_send_last(void *session, const void *bytes, size_t count);
#endif
