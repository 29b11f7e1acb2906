// A limit of the tags and chapters that libav's demuxers read, and of what they buffer.
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct AVFormatContext;

/// What was left out.
struct tag_limit_excess {
    bool tags;
    bool chapters;
    /// The rest of a packet that did not fit into the largest buffer.
    bool packet;
};

/// Limits what is added to dictionaries on this thread from now on: the entries of each one, and the bytes that are copied. Names are
/// compared at most twice as often as this number of entries takes, and so are the numbers of the context's chapters. A buffer
/// grows up to `packet` bytes.
void tag_limit_begin(struct AVFormatContext *context, int64_t entries, int64_t bytes, uint64_t packet);

/// Ends the limit; returns what was left out. The context is null if libav has freed it.
struct tag_limit_excess tag_limit_end(struct AVFormatContext *context);
