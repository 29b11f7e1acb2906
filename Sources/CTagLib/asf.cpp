#include <taglib/asffile.h>
#include <taglib/asfpicture.h>
#include <taglib/asftag.h>
#include <taglib/tbytevectorstream.h>

#include "content.h"

using namespace TagLib;

namespace {

/// Attributes that tell of the file's own encoding.
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

void read_attribute(tag_content &content, const String &name, const ASF::Attribute &attribute)
{
    switch(attribute.type()) {
    case ASF::Attribute::UnicodeType: content.add(name, attribute.toString()); break;
    case ASF::Attribute::BoolType: content.add(name, attribute.toBool() ? "1" : "0"); break;
    case ASF::Attribute::WordType: content.add(name, String::number(attribute.toUShort())); break;
    case ASF::Attribute::DWordType: content.add(name, String(std::to_string(attribute.toUInt()))); break;
    case ASF::Attribute::QWordType: content.add(name, String(std::to_string(attribute.toULongLong()))); break;
    default: break;
    }
}

}  // namespace

bool tag_parse_asf(tag_content &content, const ByteVector &bytes)
{
    ByteVectorStream stream(bytes);
    ASF::File file(&stream, false);
    if(!file.isValid() || !file.tag())
        return false;
    const ASF::Tag &tag = *file.tag();
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
    for(const auto &property : tag.setProperties(content.properties()))
        for(const auto &value : property.second)
            tag.addAttribute(property.first, ASF::Attribute(value));
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
