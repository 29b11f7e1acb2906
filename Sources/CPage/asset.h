// One row of the table of files: its name and its bytes, which a zero follows.
#define QUOTED(text) #text
#define TEXT(text) QUOTED(text)
    {TEXT(ASSET), (const unsigned char[]){
#embed TEXT(web/ASSET) suffix(, 0)
    }},
#undef TEXT
#undef QUOTED
#undef ASSET
