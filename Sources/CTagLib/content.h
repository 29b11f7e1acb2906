// The definition of the type that is opaque in the C header.
#ifndef RESPOOL_TAG_CONTENT_H
#define RESPOOL_TAG_CONTENT_H
#include <taglib/tbytevector.h>
#include <taglib/tpropertymap.h>
#include <taglib/tstring.h>

#include <string>
#include <utility>
#include <vector>

#include "CTagLib.h"

struct tag_content {
    struct picture {
        int kind;
        std::string mime;
        std::string description;
        TagLib::ByteVector bytes;
    };
    struct chapter {
        uint32_t start;
        uint32_t end;
        std::string title;
        std::string link;
        std::vector<TagLib::ByteVector> frames;
    };
    struct line {
        uint32_t time;
        std::string text;
        size_t lyrics;
    };
    std::vector<std::pair<std::string, std::string>> texts;
    std::vector<picture> pictures;
    std::vector<chapter> chapters;
    std::vector<line> lines;
    std::vector<TagLib::ByteVector> frames;
    std::vector<std::string> dropped;
    /// Whether memory was exhausted while something was added.
    bool is_incomplete = false;

    void add(const TagLib::String &name, const TagLib::String &value);
    void add(const TagLib::String &name, const TagLib::StringList &values);
    void add(const TagLib::PropertyMap &properties);
    /// All texts, by name.
    TagLib::PropertyMap properties() const;
    void drop(const TagLib::PropertyMap &properties);
};

inline TagLib::String tag_string(const std::string &text) { return TagLib::String(text, TagLib::String::UTF8); }

void tag_parse_id3(tag_content &content, const TagLib::ByteVector &bytes, const char *charset, bool &found);
bool tag_parse_mpeg4(tag_content &content, const TagLib::ByteVector &bytes);
bool tag_parse_ape(tag_content &content, const TagLib::ByteVector &bytes);
bool tag_parse_asf(tag_content &content, const TagLib::ByteVector &bytes);
TagLib::ByteVector tag_render_id3(tag_content &content);
TagLib::ByteVector tag_render_mpeg4(tag_content &content);
TagLib::ByteVector tag_render_ape(tag_content &content);
TagLib::ByteVector tag_render_asf(tag_content &content, const TagLib::ByteVector &base);
#endif
