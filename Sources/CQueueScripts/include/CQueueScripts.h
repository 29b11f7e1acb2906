#pragma once

#include <stddef.h>

/// The text of the file `Sources/Jobs/Scripts/<name>.lua`, of `*length` bytes, valid as long as the process; NULL if there is none.
const unsigned char *_Nullable queue_script(const char *_Nonnull name, size_t *_Nonnull length);
