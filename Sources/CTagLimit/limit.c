// A demuxer adds each tag of a source to a dictionary, which is searched from its start, and in which a value is copied to append to it. So
// many tags take quadratic time. Like malloc, functions of libavutil can be replaced by those of the program.
#define _GNU_SOURCE

#include "CTagLimit.h"

#include <dlfcn.h>
#include <libavutil/dict.h>
#include <libavutil/mem.h>
#include <stdlib.h>
#include <string.h>

static _Thread_local struct {
    /// What is left, except for `entries`.
    int64_t entries, comparisons, bytes;
    bool is_active, is_exceeded;
} limit;
static int (*set)(AVDictionary **, const char *, const char *, int);
static AVDictionaryEntry *(*get)(const AVDictionary *, const char *, const AVDictionaryEntry *, int);

void tag_limit_begin(int64_t entries, int64_t bytes) {
    limit.entries = entries;
    // A demuxer looks for a name before it sets it, and some names are replaced by others in the end.
    limit.comparisons = 2 * entries * entries;
    limit.bytes = bytes;
    limit.is_active = true;
    limit.is_exceeded = false;
}

bool tag_limit_end(void) {
    limit.is_active = false;
    return limit.is_exceeded;
}

__attribute__((constructor)) static void find_originals(void) {
    *(void **)&set = dlsym(RTLD_NEXT, "av_dict_set");
    *(void **)&get = dlsym(RTLD_NEXT, "av_dict_get");
    if (!set || !get) abort();
}

/// Whether a dictionary may be searched once more.
static bool is_searched(const AVDictionary *dictionary) {
    const int64_t entries = av_dict_count(dictionary);
    limit.comparisons -= entries;
    return entries < limit.entries && limit.comparisons >= 0;
}

/// Whether an entry is within the limit.
static bool is_taken(const AVDictionary *dictionary, const char *key, const char *value, int flags) {
    if (limit.bytes < 0 || !is_searched(dictionary)) return false;
    const AVDictionaryEntry *old = flags & AV_DICT_APPEND ? get(dictionary, key, NULL, flags) : NULL;
    limit.bytes -= (int64_t)(strlen(key) + strlen(value) + (old ? strlen(old->value) : 0));
    return limit.bytes >= 0;
}

AVDictionaryEntry *av_dict_get(
    const AVDictionary *dictionary, const char *key, const AVDictionaryEntry *previous, int flags) {
    const bool is_walk = flags & AV_DICT_IGNORE_SUFFIX;
    if (limit.is_active && !is_walk && !is_searched(dictionary)) return NULL;
    return get(dictionary, key, previous, flags);
}

int av_dict_set(AVDictionary **dictionary, const char *key, const char *value, int flags) {
    // Without a value, an entry is removed.
    if (limit.is_active && key && value && !is_taken(*dictionary, key, value, flags)) {
        limit.is_exceeded = true;
        if (flags & AV_DICT_DONT_STRDUP_KEY) av_free((void *)(uintptr_t)key);
        if (flags & AV_DICT_DONT_STRDUP_VAL) av_free((void *)(uintptr_t)value);
        return 0;
    }
    return set(dictionary, key, value, flags);
}
