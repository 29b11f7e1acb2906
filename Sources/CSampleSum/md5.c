// FLAC's encoder sums the samples of its segment, which takes a fifth of its time, and has no option not to. The sum of a segment is of
// no use: that of the whole stream is computed elsewhere. Like malloc, av_md5_update can be replaced by a function of the program.
#define _GNU_SOURCE

#include "csamplesum.h"

#include <dlfcn.h>
#include <libavutil/md5.h>
#include <stdlib.h>

static _Thread_local bool leaves_out;
static void (*original)(struct AVMD5 *, const uint8_t *, size_t);

void sample_sum_leave_out(bool is_left_out) { leaves_out = is_left_out; }

__attribute__((constructor)) static void find_original(void) {
    original = (void (*)(struct AVMD5 *, const uint8_t *, size_t))dlsym(RTLD_NEXT, "av_md5_update");
    if (!original) abort();
}

void av_md5_update(struct AVMD5 *context, const uint8_t *bytes, size_t count) {
    if (!leaves_out) original(context, bytes, count);
}
