// Lets TagLib read bytes in memory as a file.
#ifndef RESPOOL_TAG_MEMORY_H
#define RESPOOL_TAG_MEMORY_H
#include <taglib/tbytevectorstream.h>
#include <taglib/tfile.h>

class tag_memory : public TagLib::File {
public:
    explicit tag_memory(TagLib::IOStream *stream) : TagLib::File(stream) {}
    TagLib::Tag *tag() const override { return nullptr; }
    TagLib::AudioProperties *audioProperties() const override { return nullptr; }
    bool save() override { return false; }
};
#endif
