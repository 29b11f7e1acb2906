#include "CTagLib.h"

#include <iconv.h>

#include <cstdlib>
#include <map>
#include <mutex>
#include <string>

namespace {

std::mutex lock;
// Never freed: an open converter remains usable after the sandbox prevents opening files.
std::map<std::string, iconv_t> &converters()
{
    static auto *open = new std::map<std::string, iconv_t>;
    return *open;
}

iconv_t converter(const std::string &charset)
{
    const auto found = converters().find(charset);
    if(found != converters().end())
        return found->second;
    const iconv_t made = iconv_open("UTF-8", charset.c_str());
    if(made != reinterpret_cast<iconv_t>(-1))
        converters()[charset] = made;
    return made;
}

}  // namespace

bool tag_charset_open(const char *charset)
{
    const std::lock_guard<std::mutex> guard(lock);
    return converter(charset) != reinterpret_cast<iconv_t>(-1);
}

char *tag_charset_decode(const char *charset, const uint8_t *bytes, size_t count)
{
    const std::lock_guard<std::mutex> guard(lock);
    const iconv_t conversion = converter(charset);
    if(conversion == reinterpret_cast<iconv_t>(-1))
        return nullptr;
    iconv(conversion, nullptr, nullptr, nullptr, nullptr);
    const size_t capacity = count * 4;
    auto *text = static_cast<char *>(std::malloc(capacity + 1));
    if(!text)
        return nullptr;
    auto *input = reinterpret_cast<char *>(const_cast<uint8_t *>(bytes));
    char *output = text;
    size_t left = count, room = capacity;
    if(iconv(conversion, &input, &left, &output, &room) == static_cast<size_t>(-1)) {
        std::free(text);
        return nullptr;
    }
    *output = 0;
    return text;
}
