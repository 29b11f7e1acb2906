#ifndef CCURL_SHIM_H
#define CCURL_SHIM_H
#include <curl/curl.h>

// curl_easy_setopt and curl_easy_getinfo are variadic, which Swift cannot call.
static inline CURLcode curl_swift_set_long(CURL *handle, CURLoption option, long value) {
    return curl_easy_setopt(handle, option, value);
}
static inline CURLcode curl_swift_set_offset(CURL *handle, CURLoption option, curl_off_t value) {
    return curl_easy_setopt(handle, option, value);
}
static inline CURLcode curl_swift_set_string(CURL *handle, CURLoption option, const char *value) {
    return curl_easy_setopt(handle, option, value);
}
static inline CURLcode curl_swift_set_pointer(CURL *handle, CURLoption option, void *value) {
    return curl_easy_setopt(handle, option, value);
}
static inline CURLcode curl_swift_set_write(CURL *handle, CURLoption option, curl_write_callback function) {
    return curl_easy_setopt(handle, option, function);
}
static inline CURLcode curl_swift_set_list(CURL *handle, CURLoption option, struct curl_slist *value) {
    return curl_easy_setopt(handle, option, value);
}
static inline CURLcode curl_swift_set_before_request(CURL *handle, curl_prereq_callback function) {
    return curl_easy_setopt(handle, CURLOPT_PREREQFUNCTION, function);
}
static inline CURLcode curl_swift_set_open_socket(CURL *handle, curl_opensocket_callback function) {
    return curl_easy_setopt(handle, CURLOPT_OPENSOCKETFUNCTION, function);
}
static inline CURLcode curl_swift_set_seek(CURL *handle, curl_seek_callback function) {
    return curl_easy_setopt(handle, CURLOPT_SEEKFUNCTION, function);
}
static inline CURLcode curl_swift_get_long(CURL *handle, CURLINFO info, long *value) {
    return curl_easy_getinfo(handle, info, value);
}
static inline CURLcode curl_swift_get_offset(CURL *handle, CURLINFO info, curl_off_t *value) {
    return curl_easy_getinfo(handle, info, value);
}
static inline CURLMcode curl_swift_multi_set_long(CURLM *handle, CURLMoption option, long value) {
    return curl_multi_setopt(handle, option, value);
}
static inline CURLcode curl_swift_get_string(CURL *handle, CURLINFO info, char **value) {
    return curl_easy_getinfo(handle, info, value);
}

// What a finished transfer's message holds is in a union.
static inline CURLcode curl_swift_result(const CURLMsg *message) { return message->data.result; }

// Values of an enumeration that later releases of libcurl made macros with casts: the first in 8.13, the second by 8.23.
static const long curl_swift_use_tls = CURLUSESSL_ALL;
static const long curl_swift_make_folders = CURLFTP_CREATE_DIR_RETRY;

// CURLE_TOO_LARGE, which libcurl reports since 8.6 for what exceeds its own limits; before, it reports CURLE_OUT_OF_MEMORY.
static const CURLcode curl_swift_too_large = (CURLcode)100;

// A macro with a cast.
static const curl_socket_t curl_swift_bad_socket = CURL_SOCKET_BAD;

// The address is longer than the member that begins it, so its own address is needed, not a copy.
static inline const struct sockaddr *curl_swift_address(const struct curl_sockaddr *address) { return &address->addr; }
#endif
