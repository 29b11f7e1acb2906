#ifndef CMICROHTTPD_SHIM_H
#define CMICROHTTPD_SHIM_H
#include <microhttpd.h>

/// Starts a daemon with one thread of its own on a listening socket, which the daemon closes when it is stopped.
/// `MHD_start_daemon` is variadic, which Swift cannot call.
static inline struct MHD_Daemon *cmicrohttpd_start(
    int socket, MHD_AccessHandlerCallback handler, void *context, unsigned connections, unsigned connections_per_address,
    unsigned idle_seconds, size_t connection_bytes) {
    return MHD_start_daemon(
        MHD_USE_AUTO_INTERNAL_THREAD, 0, NULL, NULL, handler, context,
        MHD_OPTION_LISTEN_SOCKET, socket,
        MHD_OPTION_CONNECTION_LIMIT, connections,
        MHD_OPTION_PER_IP_CONNECTION_LIMIT, connections_per_address,
        MHD_OPTION_CONNECTION_TIMEOUT, idle_seconds,
        MHD_OPTION_CONNECTION_MEMORY_LIMIT, connection_bytes,
        MHD_OPTION_END);
}
#endif
