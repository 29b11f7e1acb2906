// A C interface to TagLib. Tags are parsed from bytes and rendered to bytes in memory. The caller determines where the bytes
// are in a file, so TagLib never reads a file, however hostile, and never moves data in one.
#ifndef RESPOOL_CTAGLIB_H
#define RESPOOL_CTAGLIB_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/// The formats of tags.
enum tag_form {
    /// A whole ID3v2 tag.
    TAG_FORM_ID3,
    /// A Vorbis comment without its packet's signature and framing bit.
    TAG_FORM_VORBIS,
    /// A Vorbis comment with the pictures in its fields, as in Ogg; only rendered.
    TAG_FORM_VORBIS_WITH_PICTURES,
    /// A FLAC picture block without its header; only parsed. `tag_content_render_picture` renders pictures.
    TAG_FORM_FLAC_PICTURE,
    /// A whole APEv2 tag.
    TAG_FORM_APE,
    /// A whole `udta` box when parsed; a whole `ilst` box when rendered.
    TAG_FORM_MPEG4,
    /// A whole ASF header object. When rendered, the given one with the tags added.
    TAG_FORM_ASF,
};

/// A picture of a content. The pointers are valid until the content changes.
struct tag_picture {
    /// The picture type of ID3's `APIC` frame.
    int kind;
    const char *mime;
    const char *description;
    const uint8_t *bytes;
    size_t count;
};

/// A chapter; times in milliseconds.
struct tag_chapter {
    uint32_t start;
    uint32_t end;
    const char *title;
    /// The address of a page; empty if there is none.
    const char *link;
};

/// A line of lyrics with its time in milliseconds.
struct tag_line {
    uint32_t time;
    const char *text;
    /// The number of its lyrics among several ones, from 0. Only the first ones are rendered.
    size_t lyrics;
};

/// Bytes that a function returns.
struct tag_bytes {
    uint8_t *bytes;
    size_t count;
};

/// Tags independent of their format: texts by TagLib's names, pictures, chapters, synchronized lyrics, and opaque ID3 frames.
struct tag_content;

/// Null if memory is exhausted.
struct tag_content *tag_content_make(void);
void tag_content_free(struct tag_content *content);

/// The `tag_content_add_…` functions add to a content. If memory is exhausted, the content can no longer be rendered.
void tag_content_add_text(struct tag_content *content, const char *name, const char *value);
size_t tag_content_text_count(const struct tag_content *content);
const char *tag_content_text_name(const struct tag_content *content, size_t index);
const char *tag_content_text_value(const struct tag_content *content, size_t index);

void tag_content_add_picture(struct tag_content *content, struct tag_picture picture);
size_t tag_content_picture_count(const struct tag_content *content);
struct tag_picture tag_content_picture(const struct tag_content *content, size_t index);

void tag_content_add_chapter(struct tag_content *content, struct tag_chapter chapter);
size_t tag_content_chapter_count(const struct tag_content *content);
struct tag_chapter tag_content_chapter(const struct tag_content *content, size_t index);

/// A whole ID3v2.4 frame of the chapter that was added last, except for its title and its link.
void tag_content_add_chapter_frame(struct tag_content *content, const uint8_t *bytes, size_t count);
size_t tag_content_chapter_frame_count(const struct tag_content *content, size_t chapter);
struct tag_bytes tag_content_chapter_frame(const struct tag_content *content, size_t chapter, size_t index);

void tag_content_add_line(struct tag_content *content, struct tag_line line);
size_t tag_content_line_count(const struct tag_content *content);
struct tag_line tag_content_line(const struct tag_content *content, size_t index);

/// A whole ID3v2.4 frame that has no meaning outside ID3.
void tag_content_add_frame(struct tag_content *content, const uint8_t *bytes, size_t count);
size_t tag_content_frame_count(const struct tag_content *content);
struct tag_bytes tag_content_frame(const struct tag_content *content, size_t index);

/// Names of the texts that the last rendering could not store.
size_t tag_content_dropped_count(const struct tag_content *content);
const char *tag_content_dropped(const struct tag_content *content, size_t index);

/// Adds the tags in the bytes; returns false if the bytes are not such tags. `charset` is the true character set of text that
/// is declared as Latin-1, or null.
bool tag_content_parse(
    struct tag_content *content, enum tag_form form, const uint8_t *bytes, size_t count, const char *charset);

/// Renders the content. `bytes` must be freed with `tag_bytes_free`, and is null on failure. `base` is the ASF header object,
/// and null for other forms.
struct tag_bytes tag_content_render(
    struct tag_content *content, enum tag_form form, const uint8_t *base, size_t base_count);

/// Renders a picture as the body of a FLAC picture block.
struct tag_bytes tag_content_render_picture(const struct tag_content *content, size_t index);

void tag_bytes_free(struct tag_bytes bytes);

/// The name of an ID3v1 genre; empty if the number has none, null if memory is exhausted. It must be freed with `free`.
char *tag_id3v1_genre(uint8_t number);

/// Opens the converter of a character set, and keeps it open for the lifetime of the process; returns false if there is none.
bool tag_charset_open(const char *charset);

/// Converts to UTF-8; null if the bytes are not valid in that character set. The text must be freed with `free`.
char *tag_charset_decode(const char *charset, const uint8_t *bytes, size_t count);

#ifdef __cplusplus
}
#endif
#endif
