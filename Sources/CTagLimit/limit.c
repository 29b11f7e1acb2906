// A demuxer adds each tag of a source to a dictionary, which is searched from its start, and in which a value is copied to append to it. So
// many tags take quadratic time, and so do chapters whose numbers do not rise, each of which is searched for among the others. A packet of
// Ogg, such as the comment of a later stream, is kept in memory until it ends. Like malloc, functions of libavutil can be replaced by
// those of the program.
#define _GNU_SOURCE

#include "CTagLimit.h"

#include <dlfcn.h>
#include <libavformat/avformat.h>
#include <libavutil/base64.h>
#include <libavutil/dict.h>
#include <libavutil/mem.h>
#include <stdlib.h>
#include <string.h>

static _Thread_local struct {
    /// What is left, except for `entries`.
    int64_t entries, comparisons, bytes;
    uint64_t packet;
    bool is_active;
    struct tag_limit_excess excess;
    AVFormatContext *context;
    /// Whether the chapters' numbers do not rise, and how many comparisons with them are left.
    bool is_unordered;
    int64_t chapter_comparisons;
    /// The chapters before those that were left out, of which libav sees none meanwhile.
    AVChapter **chapters;
    unsigned int chapter_count;
} limit;
static int (*set)(AVDictionary **, const char *, const char *, int);
static AVDictionaryEntry *(*get)(const AVDictionary *, const char *, const AVDictionaryEntry *, int);
static int (*add)(void *, int *, void *);
static void *(*resize)(void *, size_t);

void tag_limit_begin(AVFormatContext *context, int64_t entries, int64_t bytes, uint64_t packet) {
    memset(&limit, 0, sizeof limit);
    limit.entries = entries;
    // A demuxer looks for a name before it sets it, and some names are replaced by others in the end.
    limit.comparisons = limit.chapter_comparisons = 2 * entries * entries;
    limit.bytes = bytes;
    limit.packet = packet;
    limit.context = context;
    limit.is_active = true;
}

struct tag_limit_excess tag_limit_end(AVFormatContext *context) {
    limit.is_active = false;
    if (context && limit.chapters) {
        av_free(context->chapters);
        context->chapters = limit.chapters;
        context->nb_chapters = limit.chapter_count;
    } else {
        for (unsigned int index = 0; index < limit.chapter_count; index++) {
            av_dict_free(&limit.chapters[index]->metadata);
            av_free(limit.chapters[index]);
        }
        av_free(limit.chapters);
    }
    limit.chapters = NULL;
    limit.chapter_count = 0;
    return limit.excess;
}

__attribute__((constructor)) static void find_originals(void) {
    *(void **)&set = dlsym(RTLD_NEXT, "av_dict_set");
    *(void **)&get = dlsym(RTLD_NEXT, "av_dict_get");
    *(void **)&add = dlsym(RTLD_NEXT, "av_dynarray_add_nofree");
    *(void **)&resize = dlsym(RTLD_NEXT, "av_realloc");
    if (!set || !get || !add || !resize) abort();
}

void *av_realloc(void *buffer, size_t size) {
    if (limit.is_active && size > limit.packet) {
        limit.excess.packet = true;
        return NULL;
    }
    return resize(buffer, size);
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
        limit.excess.tags = true;
        if (flags & AV_DICT_DONT_STRDUP_KEY) av_free((void *)(uintptr_t)key);
        if (flags & AV_DICT_DONT_STRDUP_VAL) av_free((void *)(uintptr_t)value);
        return 0;
    }
    return set(dictionary, key, value, flags);
}

/// Whether libav may search the chapters for one more number, which it only does if they do not rise.
static bool is_chapter_taken(AVChapter **chapters, unsigned int count) {
    if (count > 1 && chapters[count - 1]->id <= chapters[count - 2]->id) limit.is_unordered = true;
    if (limit.is_unordered) limit.chapter_comparisons -= count;
    return limit.chapter_comparisons >= 0;
}

int av_dynarray_add_nofree(void *list, int *count, void *element) {
    AVFormatContext *context = limit.is_active ? limit.context : NULL;
    if (!context || list != &context->chapters) return add(list, count, element);
    if (!limit.excess.chapters && is_chapter_taken(context->chapters, context->nb_chapters))
        return add(list, count, element);
    if (!limit.excess.chapters) {
        limit.chapters = av_memdup(context->chapters, context->nb_chapters * sizeof *context->chapters);
        if (limit.chapters) {
            limit.chapter_count = context->nb_chapters;
            context->nb_chapters = 0;
        }
    }
    limit.excess.chapters = true;
    // libav frees the chapter.
    return AVERROR(ENOMEM);
}

/// Only the pictures in Vorbis comments are in Base64. They are read without libav.
int av_base64_decode(uint8_t *bytes, const char *text, int size) {
    (void)bytes, (void)text, (void)size;
    return AVERROR_INVALIDDATA;
}
