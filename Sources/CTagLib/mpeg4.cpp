#include <taglib/mp4coverart.h>
#include <taglib/mp4file.h>
#include <taglib/mp4tag.h>
#include <taglib/tbytevectorstream.h>

#include <string>

#include "content.h"

using namespace TagLib;

namespace {

ByteVector box(const char *name, const ByteVector &body)
{
    return ByteVector::fromUInt(body.size() + 8) + ByteVector(name) + body;
}

/// A file that contains only tags.
ByteVector film(const ByteVector &user_data)
{
    return box("ftyp", ByteVector("M4A \0\0\0\0", 8)) + box("moov", user_data);
}

/// Atoms without a TagLib property name.
enum atom_kind { TEXT, BYTE, NUMBER, LONG_NUMBER };
const struct {
    const char *atom;
    const char *name;
    atom_kind kind;
} atoms[] = {
    {"stik", "ITUNESMEDIATYPE", BYTE},  {"rtng", "ITUNESADVISORY", BYTE},    {"akID", "ITUNESACCOUNTTYPE", BYTE},
    {"cnID", "ITUNESCATALOGID", NUMBER}, {"atID", "ITUNESARTISTID", NUMBER}, {"geID", "ITUNESGENREID", NUMBER},
    {"sfID", "ITUNESCOUNTRYID", NUMBER}, {"plID", "ITUNESALBUMID", LONG_NUMBER}, {"ldes", "LONGDESCRIPTION", TEXT},
    {"\251nrt", "NARRATOR", TEXT},      {"\251pub", "PUBLISHER", TEXT},     {"\251st3", "SUBTITLE", TEXT},
    {"sdes", "SERIESDESCRIPTION", TEXT}, {"\251dir", "DIRECTOR", TEXT},     {"\251prd", "PRODUCER", TEXT},
    {"xid ", "ITUNESXID", TEXT},        {"apID", "ITUNESACCOUNT", TEXT},     {"ownr", "ITUNESOWNER", TEXT},
};

const String freeform("----:com.apple.iTunes:");

void read_item(tag_content &content, const String &name, const MP4::Item &item)
{
    if(name.startsWith("----:")) {
        // A name in another program's namespace is kept whole.
        const String key = name.startsWith(freeform) ? name.substr(freeform.size()).upper() : name;
        if(item.atomDataType() == MP4::TypeUTF8)
            content.add(key, item.toStringList());
        return;
    }
    for(const auto &atom : atoms) {
        if(name != String(atom.atom, String::Latin1))
            continue;
        switch(atom.kind) {
        case TEXT: content.add(atom.name, item.toStringList()); break;
        case BYTE: content.add(atom.name, String::number(item.toByte())); break;
        case NUMBER: content.add(atom.name, String(std::to_string(item.toUInt()))); break;
        case LONG_NUMBER: content.add(atom.name, String(std::to_string(item.toLongLong()))); break;
        }
        return;
    }
    const String key = name[0] == 0xA9 ? name.substr(1) : name;
    if(key.isAscii())
        content.add(key.upper(), item.toStringList());
}

const char *mime(MP4::CoverArt::Format format, const ByteVector &data)
{
    switch(format) {
    case MP4::CoverArt::PNG: return "image/png";
    case MP4::CoverArt::BMP: return "image/bmp";
    case MP4::CoverArt::GIF: return "image/gif";
    default: break;
    }
    return data.startsWith("\x89PNG") ? "image/png" : "image/jpeg";
}

}  // namespace

bool tag_parse_mpeg4(tag_content &content, const ByteVector &bytes)
{
    ByteVectorStream stream(film(bytes));
    MP4::File file(&stream, false);
    if(!file.isValid() || !file.tag())
        return false;
    const MP4::Tag &tag = *file.tag();
    const PropertyMap properties = tag.properties();
    content.add(properties);
    for(const auto &name : properties.unsupportedData()) {
        const MP4::Item item = tag.item(name);
        if(name == "covr") {
            // The first picture is the front cover by convention. The format has no picture types.
            for(const auto &art : item.toCoverArtList())
                content.pictures.push_back(
                    {content.pictures.empty() ? 3 : 0, mime(art.format(), art.data()), "", art.data()});
        } else {
            read_item(content, name, item);
        }
    }
    return !tag.isEmpty() || !content.texts.empty() || !content.pictures.empty();
}

namespace {

/// Sets a text without a TagLib property: one of the atoms above, or a free-form atom.
void set_item(MP4::Tag &tag, const String &name, const StringList &values)
{
    for(const auto &atom : atoms) {
        if(name != atom.name)
            continue;
        const String key(atom.atom, String::Latin1);
        const std::string digits = values[0].to8Bit(true);
        const bool is_number =
            !digits.empty() && digits.size() < 18 && digits.find_first_not_of("0123456789") == std::string::npos;
        const long long number = is_number ? std::stoll(digits) : 0;
        if(atom.kind == TEXT)
            return tag.setItem(key, MP4::Item(values));
        if(!is_number)
            break;
        switch(atom.kind) {
        case BYTE: return tag.setItem(key, MP4::Item(static_cast<unsigned char>(number)));
        case NUMBER: return tag.setItem(key, MP4::Item(static_cast<unsigned int>(number)));
        default: return tag.setItem(key, MP4::Item(number));
        }
    }
    // The programs of Apple and MusicBrainz require the exact spelling of these names.
    const String spelled = name == "ITUNSMPB" ? "iTunSMPB" : name == "ITUNNORM" ? "iTunNORM"
        : name == "ACOUSTID_ID" ? "Acoustid Id" : name == "ACOUSTID_FINGERPRINT" ? "Acoustid Fingerprint" : name;
    MP4::Item item(values);
    item.setAtomDataType(MP4::TypeUTF8);
    tag.setItem(name.startsWith("----:") ? name : freeform + spelled, item);
}

MP4::CoverArt::Format cover_format(const tag_content::picture &picture)
{
    if(picture.mime == "image/png") return MP4::CoverArt::PNG;
    if(picture.mime == "image/gif") return MP4::CoverArt::GIF;
    if(picture.mime == "image/bmp") return MP4::CoverArt::BMP;
    return MP4::CoverArt::JPEG;
}

}  // namespace

ByteVector tag_render_mpeg4(tag_content &content)
{
    ByteVectorStream stream(film(ByteVector()));
    MP4::File file(&stream, false);
    if(!file.tag())
        return ByteVector();
    MP4::Tag &tag = *file.tag();
    for(const auto &property : tag.setProperties(content.properties())) {
        // A free-form name has exactly three parts, separated by colons.
        const StringList parts = property.first.split(":");
        if(parts.size() == 1 || (parts.size() == 3 && parts[0] == "----"))
            set_item(tag, property.first, property.second);
        else
            set_item(tag, parts.toString("_"), property.second);
    }
    MP4::CoverArtList art;
    for(const auto &picture : content.pictures)
        art.append(MP4::CoverArt(cover_format(picture), picture.bytes));
    if(!art.isEmpty())
        tag.setItem("covr", MP4::Item(art));
    if(tag.isEmpty() || !file.save())
        return ByteVector();
    const ByteVector &saved = *stream.data();
    const int name = saved.find("ilst");
    return name < 4 ? ByteVector() : saved.mid(name - 4, saved.toUInt(static_cast<unsigned int>(name - 4)));
}
