#ifndef CMICROHTTPD_SHIM_H
#define CMICROHTTPD_SHIM_H
#include <microhttpd.h>
#include <netinet/in.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>

/// Decodes a path, but for one with a zero byte: it would end there for whoever reads it as text.
static inline size_t cmicrohttpd_unescape(void *context, struct MHD_Connection *connection, char *text) {
    (void)context, (void)connection;
    return strstr(text, "%00") ? strlen(text) : MHD_http_unescape(text);
}

// From 0.9.76 on, libmicrohttpd itself can be strict.
#if MHD_VERSION >= 0x00097600
#define CMICROHTTPD_STRICTNESS MHD_OPTION_CLIENT_DISCIPLINE_LVL, 1,
#else
#define CMICROHTTPD_STRICTNESS
#endif

/// Whether libmicrohttpd itself refuses header lines that other servers read differently.
static inline _Bool cmicrohttpd_is_strict(void) { return MHD_VERSION >= 0x00097600; }

/// Starts a daemon with threads of its own on a listening socket, which the daemon closes when it is stopped. With a callback for
/// certificates, it serves TLS. `MHD_start_daemon` is variadic, which Swift cannot call.
static inline struct MHD_Daemon *cmicrohttpd_start(
    int socket, MHD_AccessHandlerCallback handler, void *context, unsigned threads, unsigned connections, unsigned idle_seconds, size_t connection_bytes, MHD_NotifyConnectionCallback connection_changed,
    MHD_RequestCompletedCallback request_over, const void *certificate, const char *priorities) {
    struct MHD_OptionItem tls[] = {
        {MHD_OPTION_HTTPS_CERT_CALLBACK, 0, (void *)certificate},
        {MHD_OPTION_HTTPS_PRIORITIES, 0, (void *)priorities},
        {MHD_OPTION_END, 0, NULL},
    };
    struct MHD_OptionItem none[] = {{MHD_OPTION_END, 0, NULL}};
    // With epoll, libmicrohttpd 0.9.75 does not sleep while a client is silent in its handshake.
    unsigned polling = certificate ? MHD_USE_POLL_INTERNAL_THREAD | MHD_USE_TLS : MHD_USE_EPOLL_INTERNAL_THREAD;
    return MHD_start_daemon(
        polling | MHD_ALLOW_SUSPEND_RESUME | MHD_USE_ITC, 0, NULL, NULL, handler, context,
        MHD_OPTION_LISTEN_SOCKET, socket,
        MHD_OPTION_CONNECTION_LIMIT, connections,
        MHD_OPTION_THREAD_POOL_SIZE, threads,
        MHD_OPTION_CONNECTION_TIMEOUT, idle_seconds,
        MHD_OPTION_CONNECTION_MEMORY_LIMIT, connection_bytes,
        CMICROHTTPD_STRICTNESS
        MHD_OPTION_UNESCAPE_CALLBACK, cmicrohttpd_unescape, NULL,
        MHD_OPTION_NOTIFY_CONNECTION, connection_changed, context,
        MHD_OPTION_NOTIFY_COMPLETED, request_over, context,
        MHD_OPTION_ARRAY, certificate ? tls : none,
        MHD_OPTION_END);
}

/// The address of a connection's other end.
static inline const struct sockaddr *cmicrohttpd_client(struct MHD_Connection *connection) {
    return MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CLIENT_ADDRESS)->client_addr;
}

/// The number of bytes that a TCP connection has received, and that its other end has acknowledged; -1 if the socket does not say
/// (TCP_INFO).
static inline int64_t cmicrohttpd_transferred(int socket) {
    // glibc's structure is older than these two numbers, which the kernel has at fixed places.
    unsigned char info[136];
    socklen_t length = sizeof info;
    uint64_t acknowledged, received;
    if (getsockopt(socket, IPPROTO_TCP, 11, info, &length) != 0 || length < sizeof info) return -1;
    memcpy(&acknowledged, info + 120, sizeof acknowledged);
    memcpy(&received, info + 128, sizeof received);
    return (int64_t)(acknowledged + received);
}

/// The socket of a connection.
static inline int cmicrohttpd_socket(struct MHD_Connection *connection) {
    return MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD)->connect_fd;
}

/// The session of a connection with TLS; NULL without TLS.
static inline void *cmicrohttpd_session(struct MHD_Connection *connection) {
    const union MHD_ConnectionInfo *info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_GNUTLS_SESSION);
    return info ? info->tls_session : NULL;
}
#endif
