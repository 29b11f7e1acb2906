// One row of the table of scripts: its name and its text, which ends with a zero.
#define QUOTED(text) #text
#define TEXT(text) QUOTED(text)
    {TEXT(SCRIPT), (const unsigned char[]){
#embed TEXT(../Jobs/Scripts/SCRIPT.lua) suffix(, 0)
    }},
#undef TEXT
#undef QUOTED
#undef SCRIPT
