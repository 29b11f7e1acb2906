#include <taglib/asffile.h>
#include <taglib/asfpicture.h>
#include <taglib/asftag.h>
#include <taglib/tbytevectorstream.h>

#include <string>

#include "content.h"

using namespace TagLib;

namespace {

/// Attributes that describe the file's encoding.
bool is_technical(const String &name)
{
    static const char *const names[] = {
        "WMFSDKVersion", "WMFSDKNeeded", "IsVBR", "VBR Peak", "Buffer Average", "PeakValue", "AverageLevel",
        "DeviceConformanceTemplate", "WM/EncodingTime", "WM/EncodingSettings", "WM/ToolName", "WM/ToolVersion",
        "ASFLeakyBucketPairs", "AspectRatioX", "AspectRatioY", "HasVideo", "HasAudio"};
    for(const auto *technical : names)
        if(name == technical)
            return true;
    return false;
}

/// Names without a TagLib property, or with one that supports only a single value.
const struct {
    const char *attribute;
    const char *name;
} names[] = {{"Author", "ARTIST"}, {"WM/IsCompilation", "COMPILATION"}};

/// The first value of a name is in one object, the others in another one that may precede it. Moves the first value to the
/// front.
void restore_order(ASF::Tag &tag, const ByteVector &header)
{
    static const ByteVector content("\x40\xA4\xD0\xD2\x07\xE3\xD2\x11\x97\xF0\x00\xA0\xC9\x5E\xA8\x50", 16);
    static const ByteVector extension("\xB5\x03\xBF\x5F\x2E\xA9\xCF\x11\x8E\xE3\x00\xC0\x0C\x20\x53\x65", 16);
    const int first = header.find(content), second = header.find(extension);
    if(first < 0 || second < 0 || first < second)
        return;
    for(auto &entry : tag.attributeListMap()) {
        // The artist's first value is in a third object.
        if(entry.second.size() < 2 || entry.first == "Author")
            continue;
        entry.second.prepend(entry.second.back());
        entry.second.erase(--entry.second.end());
    }
}

/// Converts numbers to text, because TagLib's properties only read text. A tempo or a track may be a number of any width.
void spell_numbers(ASF::Tag &tag)
{
    for(auto &entry : tag.attributeListMap()) {
        if(is_technical(entry.first))
            continue;
        for(auto &attribute : entry.second) {
            switch(attribute.type()) {
            case ASF::Attribute::BoolType: attribute = ASF::Attribute(String(attribute.toBool() ? "1" : "0")); break;
            case ASF::Attribute::WordType: attribute = ASF::Attribute(String::number(attribute.toUShort())); break;
            case ASF::Attribute::DWordType:
                attribute = ASF::Attribute(String(std::to_string(attribute.toUInt())));
                break;
            case ASF::Attribute::QWordType:
                attribute = ASF::Attribute(String(std::to_string(attribute.toULongLong())));
                break;
            default: break;
            }
        }
    }
}

void read_attribute(tag_content &content, const String &attribute_name, const ASF::Attribute &attribute)
{
    String name = attribute_name;
    for(const auto &known : names)
        if(name == known.attribute)
            name = known.name;
    if(attribute.type() == ASF::Attribute::UnicodeType)
        content.add(name, attribute.toString());
}

}  // namespace

bool tag_parse_asf(tag_content &content, const ByteVector &bytes)
{
    ByteVectorStream stream(bytes);
    ASF::File file(&stream, false);
    if(!file.isValid() || !file.tag())
        return false;
    ASF::Tag &tag = *file.tag();
    restore_order(tag, bytes);
    spell_numbers(tag);
    const PropertyMap properties = tag.properties();
    content.add(properties);
    for(const auto &entry : tag.attributeListMap()) {
        for(const auto &attribute : entry.second) {
            const ASF::Picture picture = entry.first == "WM/Picture" ? attribute.toPicture() : ASF::Picture::fromInvalid();
            if(picture.isValid())
                content.pictures.push_back(
                    {static_cast<int>(picture.type()), picture.mimeType().to8Bit(true),
                     picture.description().to8Bit(true), picture.picture()});
            else if(properties.unsupportedData().contains(entry.first) && !is_technical(entry.first))
                read_attribute(content, entry.first, attribute);
        }
    }
    return !tag.isEmpty() || !content.pictures.empty();
}

ByteVector tag_render_asf(tag_content &content, const ByteVector &base)
{
    ByteVectorStream stream(base);
    ASF::File file(&stream, false);
    if(!file.isValid() || !file.tag())
        return ByteVector();
    ASF::Tag &tag = *file.tag();
    StringList fillers;
    for(const auto &entry : tag.attributeListMap())
        if(entry.first.startsWith("RESPOOL-"))
            fillers.append(entry.first);
    for(const auto &filler : fillers)
        tag.removeItem(filler);
    PropertyMap properties = content.properties();
    StringList artists = properties["ARTIST"];
    if(artists.size() > 1) {
        properties["ARTIST"] = StringList(artists.front());
        artists.erase(artists.begin());
        for(const auto &artist : artists)
            tag.addAttribute("Author", ASF::Attribute(artist));
    }
    for(const auto &property : tag.setProperties(properties))
        for(const auto &value : property.second)
            tag.addAttribute(property.first == "COMPILATION" ? "WM/IsCompilation" : property.first, ASF::Attribute(value));
    for(const auto &picture : content.pictures) {
        ASF::Picture attribute;
        attribute.setType(static_cast<ASF::Picture::Type>(picture.kind));
        attribute.setMimeType(tag_string(picture.mime));
        attribute.setDescription(tag_string(picture.description));
        attribute.setPicture(picture.bytes);
        tag.addAttribute("WM/Picture", ASF::Attribute(attribute));
    }
    if(!file.save())
        return ByteVector();
    return *stream.data();
}
