#include "CServerTLS.h"
#include <gnutls/abstract.h>
#include <gnutls/gnutls.h>
#include <gnutls/x509.h>
#include <microhttpd.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>

enum { MAX_CHAIN = 16 };

struct cservertls_certificate {
    gnutls_pcert_st chain[MAX_CHAIN];
    unsigned count;
    gnutls_privkey_t key;
    int64_t expires;
    atomic_uint references;
};

const char *const cservertls_priorities = "NORMAL:-VERS-ALL:+VERS-TLS1.3:+VERS-TLS1.2:-RSA:-SHA1:%SERVER_PRECEDENCE";

static bool has_key(const struct cservertls_certificate *certificate) {
    unsigned char ids[2][64];
    size_t sizes[2] = {sizeof ids[0], sizeof ids[1]};
    gnutls_pubkey_t own = NULL;
    if (gnutls_pubkey_init(&own) != 0) return false;
    bool found = gnutls_pubkey_import_privkey(own, certificate->key, 0, 0) == 0
        && gnutls_pubkey_get_key_id(own, GNUTLS_KEYID_USE_SHA256, ids[0], &sizes[0]) == 0
        && gnutls_pubkey_get_key_id(certificate->chain[0].pubkey, GNUTLS_KEYID_USE_SHA256, ids[1], &sizes[1]) == 0
        && sizes[0] == sizes[1] && memcmp(ids[0], ids[1], sizes[0]) == 0;
    gnutls_pubkey_deinit(own);
    return found;
}

static int64_t expiration(const gnutls_pcert_st *certificate) {
    gnutls_x509_crt_t parsed = NULL;
    int64_t seconds = 253402300799; // the year 9999
    if (gnutls_x509_crt_init(&parsed) != 0) return seconds;
    if (gnutls_x509_crt_import(parsed, &certificate->cert, GNUTLS_X509_FMT_DER) == 0)
        seconds = (int64_t)gnutls_x509_crt_get_expiration_time(parsed);
    gnutls_x509_crt_deinit(parsed);
    return seconds;
}

static int load(
    struct cservertls_certificate *made, const gnutls_datum_t *chain, const gnutls_datum_t *key, enum cservertls_problem *problem) {
    unsigned count = MAX_CHAIN;
    int status = gnutls_pcert_list_import_x509_raw(made->chain, &count, chain, GNUTLS_X509_FMT_PEM, 0);
    if (status < 0) return status;
    made->count = count;
    made->expires = expiration(&made->chain[0]);
    *problem = CSERVERTLS_KEY;
    if ((status = gnutls_privkey_init(&made->key)) != 0) return status;
    status = gnutls_privkey_import_x509_raw(made->key, key, GNUTLS_X509_FMT_PEM, NULL, 0);
    if (status == GNUTLS_E_DECRYPTION_FAILED) *problem = CSERVERTLS_PASSPHRASE;
    if (status != 0) return status;
    *problem = CSERVERTLS_MISMATCH;
    return has_key(made) ? 0 : GNUTLS_E_CERTIFICATE_KEY_MISMATCH;
}

struct cservertls_certificate *cservertls_load(
    const void *chain, size_t chain_size, const void *key, size_t key_size, enum cservertls_problem *problem, const char **text) {
    struct cservertls_certificate *made = calloc(1, sizeof *made);
    gnutls_datum_t chain_data = {(unsigned char *)chain, (unsigned)chain_size}, key_data = {(unsigned char *)key, (unsigned)key_size};
    *problem = CSERVERTLS_CHAIN;
    if (made) atomic_init(&made->references, 1);
    int status = made ? load(made, &chain_data, &key_data, problem) : GNUTLS_E_MEMORY_ERROR;
    if (status == 0) return made;
    *text = gnutls_strerror(status);
    if (made) cservertls_release(made);
    return NULL;
}

int64_t cservertls_expires(const struct cservertls_certificate *certificate) { return certificate->expires; }

void cservertls_retain(struct cservertls_certificate *certificate) { atomic_fetch_add(&certificate->references, 1); }

void cservertls_release(struct cservertls_certificate *certificate) {
    if (atomic_fetch_sub(&certificate->references, 1) != 1) return;
    for (unsigned index = 0; index < certificate->count; index++) gnutls_pcert_deinit(&certificate->chain[index]);
    if (certificate->key) gnutls_privkey_deinit(certificate->key);
    free(certificate);
}

// GnuTLS frees nothing of what it gets here, and asks in each handshake, on the thread of the daemon.
static int present(
    gnutls_session_t session, const gnutls_datum_t *issuers, int issuer_count, const gnutls_pk_algorithm_t *algorithms,
    int algorithm_count, gnutls_pcert_st **chain, unsigned *count, gnutls_privkey_t *key) {
    (void)issuers, (void)issuer_count, (void)algorithms, (void)algorithm_count;
    // libmicrohttpd gives each session its connection.
    struct MHD_Connection *connection = gnutls_session_get_ptr(session);
    const union MHD_ConnectionInfo *info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
    struct cservertls_certificate *certificate = info ? info->socket_context : NULL;
    if (!certificate) return -1;
    *chain = certificate->chain;
    *count = certificate->count;
    *key = certificate->key;
    return 0;
}

const void *cservertls_callback(void) {
    gnutls_certificate_retrieve_function2 *callback = present;
    return (const void *)callback;
}

bool cservertls_send_last(void *session, const void *bytes, size_t count) {
    gnutls_session_t open = session;
    if (gnutls_record_send(open, bytes, count) != (ssize_t)count) return false;
    gnutls_bye(open, GNUTLS_SHUT_WR);
    return true;
}
