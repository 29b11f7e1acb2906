#include "content.h"

#include <taglib/flacpicture.h>
#include <taglib/xiphcomment.h>

#include <cstdlib>
#include <cstring>
#include <exception>
#include <memory>
#include <new>

using namespace TagLib;

void tag_content::add(const String &name, const String &value)
{
    if(!name.isEmpty() && !value.isEmpty())
        texts.emplace_back(name.to8Bit(true), value.to8Bit(true));
}

void tag_content::add(const String &name, const StringList &values)
{
    for(const auto &value : values)
        add(name, value);
}

void tag_content::add(const PropertyMap &properties)
{
    for(const auto &property : properties)
        add(property.first, property.second);
}

PropertyMap tag_content::properties() const
{
    PropertyMap map;
    for(const auto &text : texts)
        map[tag_string(text.first)].append(tag_string(text.second));
    return map;
}

void tag_content::drop(const PropertyMap &properties)
{
    for(const auto &property : properties)
        dropped.push_back(property.first.to8Bit(true));
}

namespace {

tag_bytes copy(const ByteVector &vector)
{
    auto *bytes = static_cast<uint8_t *>(std::malloc(vector.size() + 1));
    if(!bytes)
        return {nullptr, 0};
    if(!vector.isEmpty())
        std::memcpy(bytes, vector.data(), vector.size());
    return {bytes, vector.size()};
}

/// The bytes of a vector, which stays their owner.
tag_bytes borrowed(const ByteVector &vector)
{
    return {reinterpret_cast<uint8_t *>(const_cast<char *>(vector.data())), vector.size()};
}

ByteVector vector(const uint8_t *bytes, size_t count)
{
    return ByteVector(reinterpret_cast<const char *>(bytes), static_cast<unsigned int>(count));
}

void add(tag_content &content, const FLAC::Picture &picture)
{
    content.pictures.push_back(
        {static_cast<int>(picture.type()), picture.mimeType().to8Bit(true), picture.description().to8Bit(true),
         picture.data()});
}

FLAC::Picture *flac(const tag_content::picture &picture)
{
    auto *block = new FLAC::Picture;
    block->setType(static_cast<FLAC::Picture::Type>(picture.kind));
    block->setMimeType(tag_string(picture.mime));
    block->setDescription(tag_string(picture.description));
    block->setData(picture.bytes);
    return block;
}

bool parse_vorbis(tag_content &content, const ByteVector &bytes)
{
    Ogg::XiphComment comment(bytes);
    for(const auto &field : comment.fieldListMap())
        content.add(field.first, field.second);
    for(const auto *picture : comment.pictureList())
        add(content, *picture);
    return comment.fieldCount() > 0 || !comment.pictureList().isEmpty();
}

ByteVector render_vorbis(tag_content &content, bool with_pictures)
{
    Ogg::XiphComment comment;
    for(const auto &text : content.texts) {
        const String name = tag_string(text.first);
        // A name consists of ASCII characters from space to }, except =.
        bool good = !name.isEmpty();
        for(const auto character : name)
            good = good && character >= 0x20 && character <= 0x7D && character != '=';
        if(good)
            comment.addField(name, tag_string(text.second), false);
        else
            content.dropped.push_back(text.first);
    }
    if(with_pictures)
        for(const auto &picture : content.pictures)
            comment.addPicture(flac(picture));
    return comment.render(false);
}

/// Runs an action. If memory is exhausted, the failure is reported when the content is rendered, because no exception may reach
/// Swift.
template <typename Action> void attempt(tag_content *content, Action action)
{
    try {
        action();
    } catch(const std::exception &) {
        content->is_incomplete = true;
    }
}

}  // namespace

tag_content *tag_content_make(void) { return new(std::nothrow) tag_content; }
void tag_content_free(tag_content *content) { delete content; }

void tag_content_add_text(tag_content *content, const char *name, const char *value)
{
    attempt(content, [&] { content->texts.emplace_back(name, value); });
}

size_t tag_content_text_count(const tag_content *content) { return content->texts.size(); }
const char *tag_content_text_name(const tag_content *content, size_t index) { return content->texts[index].first.c_str(); }
const char *tag_content_text_value(const tag_content *content, size_t index) { return content->texts[index].second.c_str(); }

void tag_content_add_picture(tag_content *content, tag_picture picture)
{
    attempt(content, [&] {
        content->pictures.push_back(
            {picture.kind, picture.mime, picture.description, vector(picture.bytes, picture.count)});
    });
}

size_t tag_content_picture_count(const tag_content *content) { return content->pictures.size(); }

tag_picture tag_content_picture(const tag_content *content, size_t index)
{
    const auto &picture = content->pictures[index];
    return {picture.kind, picture.mime.c_str(), picture.description.c_str(),
            reinterpret_cast<const uint8_t *>(picture.bytes.data()), picture.bytes.size()};
}

void tag_content_add_chapter(tag_content *content, tag_chapter chapter)
{
    attempt(content, [&] { content->chapters.push_back({chapter.start, chapter.end, chapter.title, chapter.link, {}}); });
}

size_t tag_content_chapter_count(const tag_content *content) { return content->chapters.size(); }

tag_chapter tag_content_chapter(const tag_content *content, size_t index)
{
    const auto &chapter = content->chapters[index];
    return {chapter.start, chapter.end, chapter.title.c_str(), chapter.link.c_str()};
}

void tag_content_add_chapter_frame(tag_content *content, const uint8_t *bytes, size_t count)
{
    attempt(content, [&] {
        if(!content->chapters.empty())
            content->chapters.back().frames.push_back(vector(bytes, count));
    });
}

size_t tag_content_chapter_frame_count(const tag_content *content, size_t chapter)
{
    return content->chapters[chapter].frames.size();
}

tag_bytes tag_content_chapter_frame(const tag_content *content, size_t chapter, size_t index)
{
    return borrowed(content->chapters[chapter].frames[index]);
}

void tag_content_add_line(tag_content *content, tag_line line)
{
    attempt(content, [&] { content->lines.push_back({line.time, line.text, line.lyrics}); });
}

size_t tag_content_line_count(const tag_content *content) { return content->lines.size(); }

tag_line tag_content_line(const tag_content *content, size_t index)
{
    const auto &line = content->lines[index];
    return {line.time, line.text.c_str(), line.lyrics};
}

void tag_content_add_frame(tag_content *content, const uint8_t *bytes, size_t count)
{
    attempt(content, [&] { content->frames.push_back(vector(bytes, count)); });
}

size_t tag_content_frame_count(const tag_content *content) { return content->frames.size(); }

tag_bytes tag_content_frame(const tag_content *content, size_t index)
{
    return borrowed(content->frames[index]);
}

size_t tag_content_dropped_count(const tag_content *content) { return content->dropped.size(); }
const char *tag_content_dropped(const tag_content *content, size_t index) { return content->dropped[index].c_str(); }

namespace {

bool parse(tag_content *content, tag_form form, const uint8_t *bytes, size_t count, const char *charset)
{
    const ByteVector data = vector(bytes, count);
    bool found = false;
    switch(form) {
    case TAG_FORM_ID3:
        tag_parse_id3(*content, data, charset, found);
        return found;
    case TAG_FORM_VORBIS:
    case TAG_FORM_VORBIS_WITH_PICTURES:
        return parse_vorbis(*content, data);
    case TAG_FORM_FLAC_PICTURE: {
        FLAC::Picture picture;
        found = picture.parse(data);
        if(found)
            add(*content, picture);
        return found;
    }
    case TAG_FORM_APE:
        return tag_parse_ape(*content, data);
    case TAG_FORM_MPEG4:
        return tag_parse_mpeg4(*content, data);
    case TAG_FORM_ASF:
        return tag_parse_asf(*content, data);
    }
    return false;
}

}  // namespace

bool tag_content_parse(tag_content *content, tag_form form, const uint8_t *bytes, size_t count, const char *charset)
{
    // Compressed frames may request more memory than is available, and no exception may reach Swift.
    try {
        return parse(content, form, bytes, count, charset);
    } catch(const std::exception &) {
        return false;
    }
}

namespace {

tag_bytes render(tag_content *content, tag_form form, const uint8_t *base, size_t base_count)
{
    content->dropped.clear();
    if(content->is_incomplete)
        return {nullptr, 0};
    switch(form) {
    case TAG_FORM_ID3:
        return copy(tag_render_id3(*content));
    case TAG_FORM_VORBIS:
        return copy(render_vorbis(*content, false));
    case TAG_FORM_VORBIS_WITH_PICTURES:
        return copy(render_vorbis(*content, true));
    case TAG_FORM_FLAC_PICTURE:
        break;
    case TAG_FORM_APE:
        return copy(tag_render_ape(*content));
    case TAG_FORM_MPEG4:
        return copy(tag_render_mpeg4(*content));
    case TAG_FORM_ASF:
        return copy(tag_render_asf(*content, vector(base, base_count)));
    }
    return {nullptr, 0};
}

}  // namespace

tag_bytes tag_content_render(tag_content *content, tag_form form, const uint8_t *base, size_t base_count)
{
    // Pictures of many megabytes are copied several times, and memory is limited.
    try {
        return render(content, form, base, base_count);
    } catch(const std::exception &) {
        return {nullptr, 0};
    }
}

tag_bytes tag_content_render_picture(const tag_content *content, size_t index)
{
    try {
        const std::unique_ptr<FLAC::Picture> block(flac(content->pictures.at(index)));
        return copy(block->render());
    } catch(const std::exception &) {
        return {nullptr, 0};
    }
}

void tag_bytes_free(tag_bytes bytes) { std::free(bytes.bytes); }
