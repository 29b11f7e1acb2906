// Preloaded, a process cannot start a thread, as where a user has as many as the system allows. Threads with attributes are those of
// libdispatch, which would abort.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>

typedef int create(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);

int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*body)(void *), void *argument) {
    if (!attributes) return EAGAIN;
    return ((create *)dlsym(RTLD_NEXT, "pthread_create"))(thread, attributes, body, argument);
}
