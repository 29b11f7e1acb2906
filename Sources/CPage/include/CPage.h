#pragma once

#include <stddef.h>

/// A file of the page, valid as long as the process. None contains a zero.
struct page_asset {
    /// The file's name in `web`.
    const char *_Nonnull name;
    const unsigned char *_Nonnull bytes;
    size_t count;
};

/// The number of files.
size_t page_asset_count(void);

/// A file by its index.
struct page_asset page_asset_at(size_t index);
