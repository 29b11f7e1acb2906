#include <taglib/attachedpictureframe.h>
#include <taglib/chapterframe.h>
#include <taglib/commentsframe.h>
#include <taglib/id3v1genres.h>
#include <taglib/id3v2framefactory.h>
#include <taglib/id3v2header.h>
#include <taglib/id3v2synchdata.h>
#include <taglib/id3v2tag.h>
#include <taglib/synchronizedlyricsframe.h>
#include <taglib/tableofcontentsframe.h>
#include <taglib/textidentificationframe.h>
#include <taglib/unknownframe.h>
#include <taglib/unsynchronizedlyricsframe.h>
#include <taglib/urllinkframe.h>

#include <cstdlib>
#include <cstring>
#include <exception>
#include <string>

#include "content.h"
#include "memory.h"

using namespace TagLib;

namespace {

/// Decodes text that is declared as Latin-1, with the character set of the parsing thread.
class charset_handler : public ID3v2::Latin1StringHandler {
public:
    String parse(const ByteVector &data) const override
    {
        if(charset && !data.isEmpty()) {
            // Fields may be padded with zeros, which are not valid in multi-byte character sets.
            const auto length = strnlen(data.data(), data.size());
            char *text = tag_charset_decode(charset, reinterpret_cast<const uint8_t *>(data.data()), length);
            if(text) {
                const String result(text, String::UTF8);
                std::free(text);
                return result;
            }
        }
        return String(data, String::Latin1);
    }
    static thread_local const char *charset;
};
thread_local const char *charset_handler::charset = nullptr;

/// Sets the character set during its lifetime.
struct charset_scope {
    explicit charset_scope(const char *charset) { charset_handler::charset = charset; }
    ~charset_scope() { charset_handler::charset = nullptr; }
};

void prepare()
{
    static const bool ready = [] {
        static const charset_handler handler;
        ID3v2::Tag::setLatin1StringHandler(&handler);
        ID3v2::FrameFactory::instance()->setDefaultTextEncoding(String::UTF8);
        return true;
    }();
    (void)ready;
}

/// The offset of the embedded frames in a chapter or a table of contents (ID3v2 Chapter Frame Addendum).
unsigned int embedded_start(const ByteVector &name, const ByteVector &body)
{
    unsigned int place = body.find('\0') + 1;
    if(name == "CHAP")
        return place + 16;
    unsigned int children = place + 1 < body.size() ? static_cast<unsigned char>(body[place + 1]) : 0;
    place += 2;
    for(; children > 0 && place < body.size(); place++)
        children -= body[place] == 0;
    return place;
}

/// The size of all compressed frames from an offset, including embedded ones. Greater than `most` if it cannot be determined.
unsigned int deflated_bytes(const ByteVector &data, unsigned int place, unsigned int version, unsigned int most)
{
    unsigned int deflated = 0;
    while(deflated <= most && place < data.size() && data.size() - place > 10 && data[place] != 0) {
        const bool is_safe = version > 3 && !((data[place + 4] | data[place + 5] | data[place + 6] | data[place + 7]) & 0x80);
        const unsigned int left = data.size() - place - 10;
        const unsigned int declared = is_safe ? ID3v2::SynchData::toUInt(data.mid(place + 4, 4)) : data.toUInt(place + 4);
        const unsigned int size = declared < left ? declared : left;
        const ByteVector name = data.mid(place, 4);
        const bool is_deflated = data[place + 9] & (version > 3 ? 0x08 : 0x80);
        if(name == "CHAP" || name == "CTOC") {
            // Embedded frames may be compressed as well, and the size of their data is then unknown.
            if(is_deflated)
                return most + 1;
            ByteVector body = data.mid(place + 10, size);
            if(version > 3 && data[place + 9] & 0x02)
                body = ID3v2::SynchData::decode(body);
            deflated += deflated_bytes(body, embedded_start(name, body), version, most);
        } else if(is_deflated) {
            deflated += size;
        }
        if(declared >= left)
            break;
        place += size + 10;
    }
    return deflated;
}

/// Whether the compressed frames are larger than in tags of music. TagLib decompresses them without a limit.
bool swells(const ByteVector &bytes)
{
    const unsigned int version = bytes.size() > 10 ? static_cast<unsigned char>(bytes[3]) : 0;
    if(version < 3)
        return false;
    const int flags = static_cast<unsigned char>(bytes[5]);
    const ByteVector data = flags & 0x80 && version == 3 ? ID3v2::SynchData::decode(bytes.mid(10)) : bytes.mid(10);
    const unsigned int start = flags & 0x40 ? ID3v2::SynchData::toUInt(data.mid(0, 4)) : 0;
    const unsigned int most = 16384;
    return deflated_bytes(data, start, version, most) > most;
}

/// Frames that have a meaning only in ID3, and do not describe one encoding.
bool is_opaque(const ByteVector &name)
{
    static const char *const names[] = {"PRIV", "GEOB", "POPM", "PCNT", "UFID", "USER", "OWNE", "COMR", "MCDI", "RVA2"};
    for(const auto *opaque : names)
        if(name == opaque)
            return true;
    return false;
}

/// The frame in its ID3v2.4 form, whatever version it was read from.
ByteVector whole(const ID3v2::Frame *frame)
{
    ByteVector bytes = frame->render();
    const unsigned int size = bytes.size() - 10;
    for(unsigned int place = 0; place < 4; place++)
        bytes[4 + place] = static_cast<char>(size >> (7 * (3 - place)) & 0x7F);
    bytes[8] = bytes[9] = 0;
    return bytes;
}

/// Reads credits by role. TagLib reads none of them if it does not recognize one of the roles or its spelling.
void read_credits(tag_content &content, const ID3v2::Frame *frame)
{
    const auto *text = dynamic_cast<const ID3v2::TextIdentificationFrame *>(frame);
    if(!text)
        return;
    const StringList fields = text->fieldList();
    unsigned int place = 0;
    for(; place + 1 < fields.size(); place += 2) {
        const String role = fields[place].upper();
        const String name = role == "DJ-MIX" ? "DJMIXER" : role == "MIX" ? "MIXER" : role;
        content.add(name, fields[place + 1]);
    }
    // A name without a role.
    if(place < fields.size())
        content.add("INVOLVEDPEOPLE", fields[place]);
}

/// Reads a chapter with its embedded frames.
void read_chapter(tag_content &content, const ID3v2::ChapterFrame &chapter)
{
    tag_content::chapter read = {chapter.startTime(), chapter.endTime(), "", "", {}};
    bool is_titled = false;
    for(const auto *frame : chapter.embeddedFrameList()) {
        const auto *link = dynamic_cast<const ID3v2::UserUrlLinkFrame *>(frame);
        if(!is_titled && frame->frameID() == "TIT2") {
            read.title = frame->toString().to8Bit(true);
            is_titled = true;
        } else if(link && read.link.empty()) {
            read.link = link->url().to8Bit(true);
        } else {
            read.frames.push_back(whole(frame));
        }
    }
    content.chapters.push_back(read);
}

void read_frame(tag_content &content, ID3v2::Frame *frame, const StringList &unsupported)
{
    if(const auto *picture = dynamic_cast<ID3v2::AttachedPictureFrame *>(frame)) {
        content.pictures.push_back(
            {static_cast<int>(picture->type()), picture->mimeType().to8Bit(true), picture->description().to8Bit(true),
             picture->picture()});
    } else if(const auto *chapter = dynamic_cast<ID3v2::ChapterFrame *>(frame)) {
        read_chapter(content, *chapter);
    } else if(const auto *lyrics = dynamic_cast<ID3v2::SynchronizedLyricsFrame *>(frame)) {
        if(lyrics->timestampFormat() != ID3v2::SynchronizedLyricsFrame::AbsoluteMilliseconds)
            return;
        const size_t number = content.lines.empty() ? 0 : content.lines.back().lyrics + 1;
        for(const auto &line : lyrics->synchedText())
            content.lines.push_back({line.time, line.text.to8Bit(true), number});
    } else if(is_opaque(frame->frameID())) {
        // TagLib reads MusicBrainz's UFID as a text. The others have a meaning only in ID3.
        if(frame->frameID() == "UFID" && !unsupported.contains("UFID") &&
           !unsupported.contains(String("UFID/") + frame->toString()))
            return;
        content.frames.push_back(whole(frame));
    }
}

}  // namespace

void tag_parse_id3(tag_content &content, const ByteVector &bytes, const char *charset, bool &found)
{
    prepare();
    if(swells(bytes))
        return;
    ByteVectorStream stream(bytes);
    tag_memory file(&stream);
    const charset_scope scope(charset);
    const ID3v2::Tag tag(&file, 0);
    found = !tag.frameList().isEmpty();
    const PropertyMap properties = tag.properties();
    content.add(properties);
    if(properties.unsupportedData().contains("TIPL"))
        for(auto *frame : tag.frameList("TIPL"))
            read_credits(content, frame);
    for(auto *frame : tag.frameList())
        read_frame(content, frame, properties.unsupportedData());
}

char *tag_id3v1_genre(uint8_t number)
{
    try {
        return strdup(ID3v1::genre(number).toCString(true));
    } catch(const std::exception &) {
        return nullptr;
    }
}

namespace {

/// Spells the names of user text frames as MusicBrainz's programs do, which compare case-sensitively. Removes the description
/// of lyrics.
void spell(ID3v2::Tag &tag)
{
    static const char *const names[] = {
        "MusicBrainz Album Id", "MusicBrainz Artist Id", "MusicBrainz Album Artist Id", "MusicBrainz Release Group Id",
        "MusicBrainz Release Track Id", "MusicBrainz Work Id", "MusicBrainz Disc Id", "MusicBrainz Album Type",
        "MusicBrainz Album Status", "MusicBrainz Album Release Country", "Acoustid Id", "Acoustid Fingerprint",
        "MusicIP PUID"};
    for(auto *frame : tag.frameList("TXXX")) {
        auto *text = dynamic_cast<ID3v2::UserTextIdentificationFrame *>(frame);
        for(const auto *name : names)
            if(text && text->description().upper() == String(name).upper())
                text->setDescription(name);
    }
    // TagLib writes the grouping to iTunes's frame, which other programs do not read.
    if(tag.frameList("TIT1").isEmpty()) {
        const ID3v2::FrameList groupings = tag.frameList("GRP1");
        for(auto *frame : groupings) {
            auto *text = new ID3v2::TextIdentificationFrame("TIT1", String::UTF8);
            text->setText(frame->toString());
            tag.removeFrame(frame);
            tag.addFrame(text);
        }
    }
    for(auto *frame : tag.frameList("USLT")) {
        auto *lyrics = dynamic_cast<ID3v2::UnsynchronizedLyricsFrame *>(frame);
        if(lyrics && lyrics->description() == "LYRICS")
            lyrics->setDescription(String());
    }
}

/// A frame from its bytes; null if it was damaged in the source.
ID3v2::Frame *frame_of(const ByteVector &bytes)
{
    const ID3v2::Header header;
    return ID3v2::FrameFactory::instance()->createFrame(bytes, &header);
}

ID3v2::FrameList embedded_frames(const tag_content::chapter &chapter)
{
    ID3v2::FrameList embedded;
    if(!chapter.title.empty()) {
        auto *title = new ID3v2::TextIdentificationFrame("TIT2", String::UTF8);
        title->setText(tag_string(chapter.title));
        embedded.append(title);
    }
    if(!chapter.link.empty()) {
        auto *link = new ID3v2::UserUrlLinkFrame(String::Latin1);
        // As programs for podcasts name it.
        link->setDescription("chapter url");
        link->setUrl(tag_string(chapter.link));
        embedded.append(link);
    }
    for(const auto &bytes : chapter.frames)
        if(auto *frame = frame_of(bytes))
            embedded.append(frame);
    return embedded;
}

void add_table(ID3v2::Tag &tag, const std::string &name, const ByteVectorList &children, bool is_top)
{
    auto *table = new ID3v2::TableOfContentsFrame(ByteVector(name.c_str()), children);
    table->setIsTopLevel(is_top);
    table->setIsOrdered(true);
    tag.addFrame(table);
}

void add_chapters(ID3v2::Tag &tag, const tag_content &content)
{
    if(content.chapters.empty())
        return;
    ByteVectorList children;
    for(size_t index = 0; index < content.chapters.size(); index++) {
        const auto &chapter = content.chapters[index];
        const ByteVector name(("chp" + std::to_string(index)).c_str());
        tag.addFrame(
            new ID3v2::ChapterFrame(name, chapter.start, chapter.end, 0xFFFFFFFF, 0xFFFFFFFF, embedded_frames(chapter)));
        children.append(name);
    }
    // A table counts its children in one byte (id3v2-chapters-1.0, section 3.2), so more are in tables below it.
    const unsigned int most = 255;
    unsigned int tables = 0;
    while(children.size() > most) {
        ByteVectorList parents, part;
        for(const auto &child : children) {
            part.append(child);
            if(part.size() < most && child != children.back())
                continue;
            const std::string name = "toc" + std::to_string(tables++);
            add_table(tag, name, part, false);
            parents.append(ByteVector(name.c_str()));
            part.clear();
        }
        children = parents;
    }
    add_table(tag, "toc", children, true);
}

}  // namespace

ByteVector tag_render_id3(tag_content &content)
{
    prepare();
    ID3v2::Tag tag;
    PropertyMap properties = content.properties();
    // iTunes requires the exact spelling of this comment.
    const StringList sound_check = properties["ITUNNORM"];
    properties.erase("ITUNNORM");
    content.drop(tag.setProperties(properties));
    if(!sound_check.isEmpty()) {
        auto *comment = new ID3v2::CommentsFrame(String::Latin1);
        comment->setLanguage("eng");
        comment->setDescription("iTunNORM");
        comment->setText(sound_check.front());
        tag.addFrame(comment);
    }
    spell(tag);
    for(const auto &picture : content.pictures) {
        auto *frame = new ID3v2::AttachedPictureFrame;
        frame->setType(static_cast<ID3v2::AttachedPictureFrame::Type>(picture.kind));
        frame->setMimeType(tag_string(picture.mime));
        // Latin-1 if possible: libav 5.1 reads UTF-8 descriptions, but some players do not.
        const String description = tag_string(picture.description);
        frame->setTextEncoding(description.isLatin1() ? String::Latin1 : String::UTF8);
        frame->setDescription(description);
        frame->setPicture(picture.bytes);
        tag.addFrame(frame);
    }
    add_chapters(tag, content);
    if(!content.lines.empty()) {
        auto *frame = new ID3v2::SynchronizedLyricsFrame(String::UTF8);
        frame->setTimestampFormat(ID3v2::SynchronizedLyricsFrame::AbsoluteMilliseconds);
        frame->setType(ID3v2::SynchronizedLyricsFrame::Lyrics);
        frame->setLanguage("und");
        ID3v2::SynchronizedLyricsFrame::SynchedTextList lines;
        for(const auto &line : content.lines)
            lines.append(ID3v2::SynchronizedLyricsFrame::SynchedText(line.time, tag_string(line.text)));
        frame->setSynchedText(lines);
        tag.addFrame(frame);
    }
    for(const auto &bytes : content.frames)
        if(auto *frame = frame_of(bytes))
            tag.addFrame(frame);
    return tag.render();
}
