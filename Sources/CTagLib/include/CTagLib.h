// TagLib behind C: tags are parsed from bytes and rendered to bytes, in memory alone. Where those bytes stand in a file is
// the caller's business, so TagLib never sees a file, however hostile, and never moves one.
#ifndef RESPOOL_CTAGLIB_H
#define RESPOOL_CTAGLIB_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/// The forms of tags.
enum tag_form {
    /// A whole ID3v2 tag.
    TAG_FORM_ID3,
    /// A Vorbis comment without its packet's mark and without a framing bit.
    TAG_FORM_VORBIS,
    /// The same with the pictures among its fields, as Ogg keeps them: rendered only.
    TAG_FORM_VORBIS_WITH_PICTURES,
    /// A FLAC picture block without its header: parsed only; a content renders its pictures by `tag_content_render_picture`.
    TAG_FORM_FLAC_PICTURE,
    /// A whole APEv2 tag.
    TAG_FORM_APE,
    /// A whole `udta` box when parsed; a whole `ilst` box when rendered.
    TAG_FORM_MPEG4,
    /// A whole ASF header object; when rendered, the one that was given with the tags in it.
    TAG_FORM_ASF,
};

/// A picture of a content; the pointers are valid until the content changes.
struct tag_picture {
    /// A type of ID3's `APIC`.
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
};

/// A line of lyrics with its time in milliseconds.
struct tag_line {
    uint32_t time;
    const char *text;
};

/// Bytes that a call made.
struct tag_bytes {
    uint8_t *bytes;
    size_t count;
};

/// Tags in no particular form: texts by TagLib's names, pictures, chapters, lyrics with times, and opaque ID3 frames.
struct tag_content;

/// Nothing if the memory does not suffice.
struct tag_content *tag_content_make(void);
void tag_content_free(struct tag_content *content);

/// Each of these adds to a content; if the memory does not suffice, the content cannot be rendered any more.
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

void tag_content_add_line(struct tag_content *content, struct tag_line line);
size_t tag_content_line_count(const struct tag_content *content);
struct tag_line tag_content_line(const struct tag_content *content, size_t index);

/// A whole ID3v2.4 frame that has no meaning outside ID3.
void tag_content_add_frame(struct tag_content *content, const uint8_t *bytes, size_t count);
size_t tag_content_frame_count(const struct tag_content *content);
struct tag_bytes tag_content_frame(const struct tag_content *content, size_t index);

/// Names of the texts that the last rendering had no place for.
size_t tag_content_dropped_count(const struct tag_content *content);
const char *tag_content_dropped(const struct tag_content *content, size_t index);

/// Adds what the bytes hold; false if they are no such tags. `charset` names the true character set of what is declared as
/// Latin-1, or is null.
bool tag_content_parse(
    struct tag_content *content, enum tag_form form, const uint8_t *bytes, size_t count, const char *charset);

/// Renders the content; `bytes` are to be freed by `tag_bytes_free` and are null where it failed. `base` is what the form
/// needs beside the content: the header object of ASF; else null.
struct tag_bytes tag_content_render(
    struct tag_content *content, enum tag_form form, const uint8_t *base, size_t base_count);

/// Renders a picture as the body of a FLAC picture block.
struct tag_bytes tag_content_render_picture(const struct tag_content *content, size_t index);

void tag_bytes_free(struct tag_bytes bytes);

/// The name of a genre of ID3v1, empty if no genre has the number; null if the memory does not suffice. To be freed by `free`.
char *tag_id3v1_genre(uint8_t number);

/// Opens the converter of a character set, if it is not open yet, and keeps it for the life of the process; false if there is
/// none.
bool tag_charset_open(const char *charset);

/// Converts to UTF-8; null if the bytes are no text in that character set. The text is to be freed by `free`.
char *tag_charset_decode(const char *charset, const uint8_t *bytes, size_t count);

#ifdef __cplusplus
}
#endif
#endif
