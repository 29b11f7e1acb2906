#include <taglib/apefooter.h>
#include <taglib/apeitem.h>
#include <taglib/apetag.h>
#include <taglib/tbytevectorstream.h>

#include <cstring>

#include "content.h"
#include "memory.h"

using namespace TagLib;

namespace {

/// The keys of covers, by ID3 picture type. Programs agree only on these spellings.
const char *const covers[] = {
    "Cover Art (Other)", "Cover Art (Png Icon)", "Cover Art (Icon)", "Cover Art (Front)", "Cover Art (Back)",
    "Cover Art (Leaflet)", "Cover Art (Media)", "Cover Art (Lead Artist)", "Cover Art (Artist)",
    "Cover Art (Conductor)", "Cover Art (Band)", "Cover Art (Composer)", "Cover Art (Lyricist)",
    "Cover Art (Recording Location)", "Cover Art (During Recording)", "Cover Art (During Performance)",
    "Cover Art (Video Capture)", "Cover Art (Fish)", "Cover Art (Illustration)", "Cover Art (Band Logotype)",
    "Cover Art (Publisher Logotype)"};

bool read_cover(tag_content &content, const APE::Item &item)
{
    for(int kind = 0; kind <= 20; kind++) {
        if(item.key().upper() != String(covers[kind]).upper())
            continue;
        const ByteVector value = item.binaryData();
        const int end = value.find('\0');
        if(end < 0)
            return true;
        const ByteVector data = value.mid(static_cast<unsigned int>(end) + 1);
        const char *mime = data.startsWith("\x89PNG") ? "image/png" : data.startsWith("GIF8") ? "image/gif"
            : data.startsWith("RIFF") ? "image/webp" : data.startsWith("BM") ? "image/bmp" : "image/jpeg";
        // The bytes before the zero are a description or a file name.
        String description(value.mid(0, static_cast<unsigned int>(end)), String::UTF8);
        const String lower = description.upper();
        if(lower.startsWith("COVER ART ("))
            description = String();
        content.pictures.push_back({kind, mime, description.to8Bit(true), data});
        return true;
    }
    return false;
}

}  // namespace

bool tag_parse_ape(tag_content &content, const ByteVector &bytes)
{
    if(bytes.size() < APE::Footer::size())
        return false;
    ByteVectorStream stream(bytes);
    tag_memory file(&stream);
    const APE::Tag tag(&file, bytes.size() - APE::Footer::size());
    content.add(tag.properties());
    for(const auto &item : tag.itemListMap())
        if(item.second.type() == APE::Item::Binary)
            read_cover(content, item.second);
    return !tag.isEmpty();
}

ByteVector tag_render_ape(tag_content &content)
{
    APE::Tag tag;
    content.drop(tag.setProperties(content.properties()));
    for(const auto &picture : content.pictures) {
        const int kind = picture.kind < 0 || picture.kind > 20 ? 0 : picture.kind;
        const ByteVector text(picture.description.c_str(), static_cast<unsigned int>(picture.description.size()));
        // There can be only one item of each type.
        if(tag.itemListMap().contains(String(covers[kind]).upper()))
            content.dropped.push_back("picture");
        else
            tag.setData(covers[kind], text + ByteVector(1, '\0') + picture.bytes);
    }
    return tag.render();
}
