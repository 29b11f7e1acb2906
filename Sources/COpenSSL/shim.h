#ifndef COPENSSL_SHIM_H
#define COPENSSL_SHIM_H
#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <sys/socket.h>

// OpenSSL's own socket BIO calls write(2), which ends a process that does not ignore SIGPIPE.
static inline int copenssl_send(BIO *bio, const char *bytes, int length) {
    int socket = -1;
    BIO_get_fd(bio, &socket);
    BIO_clear_retry_flags(bio);
    int sent = (int)send(socket, bytes, (size_t)length, MSG_NOSIGNAL);
    if (sent < 0 && BIO_sock_should_retry(sent)) BIO_set_retry_write(bio);
    return sent;
}

/// OpenSSL's socket BIO with a write that raises no signal; made once, never freed. Answers NULL if memory is out.
static inline BIO_METHOD *copenssl_socket_method(void) {
    const BIO_METHOD *model = BIO_s_socket();
    BIO_METHOD *method = BIO_meth_new(BIO_TYPE_SOCKET, "socket without SIGPIPE");
    if (method == NULL) return NULL;
    BIO_meth_set_write(method, copenssl_send);
    BIO_meth_set_read(method, BIO_meth_get_read(model));
    BIO_meth_set_puts(method, BIO_meth_get_puts(model));
    BIO_meth_set_ctrl(method, BIO_meth_get_ctrl(model));
    BIO_meth_set_create(method, BIO_meth_get_create(model));
    BIO_meth_set_destroy(method, BIO_meth_get_destroy(model));
    return method;
}

// Macros with a cast or a control number, which Swift does not import.
static inline void copenssl_set_socket(BIO *bio, int socket) { BIO_set_fd(bio, socket, BIO_NOCLOSE); }
static inline int copenssl_set_server_name(SSL *session, const char *name) {
    return (int)SSL_set_tlsext_host_name(session, name);
}
static inline void copenssl_require_tls_1_2(SSL_CTX *context) { SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION); }
static inline void copenssl_allow_partial_writes(SSL_CTX *context) {
    SSL_CTX_set_mode(context, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
}
#endif
