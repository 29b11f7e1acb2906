// A limit of the tags that libav's demuxers read.
#pragma once

#include <stdbool.h>
#include <stdint.h>

/// Limits what is added to dictionaries on this thread from now on: the entries of each one, and the bytes that are copied. Names are
/// compared at most twice as often as this number of entries takes.
void tag_limit_begin(int64_t entries, int64_t bytes);

/// Ends the limit; returns whether entries were left out.
bool tag_limit_end(void);
