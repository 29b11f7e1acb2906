// Calls each C target on a processor for which there is no Swift at hand: `make platforms SUITE=arm64` compiles this for 64-bit Arm and
// runs it under qemu, which has neither Landlock nor seccomp. The headers promise what is expected here.
#include <CLinux.h>
#include <CPage.h>
#include <CQueueScripts.h>
#include <CServerTLS.h>
#include <CTagLib.h>
#include <CTagLimit.h>
#include <csamplesum.h>
#include <errno.h>
#include <fcntl.h>
#include <libavformat/avformat.h>
#include <libavutil/md5.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static int failures;
#define EXPECT(condition) ((condition) ? (void)0 : (void)(failures++, fprintf(stderr, "check.c:%d: %s, errno %d\n", __LINE__, #condition, errno)))

static void check_files(const char *folder) {
    char path[4096], name[4096];
    int directory = open(folder, O_RDONLY | O_DIRECTORY), file = clinux_open_unnamed(folder, 0600);
    EXPECT(directory >= 0 && file >= 0 && write(file, "sound", 5) == 5);
    EXPECT(clinux_link_unnamed_in(file, directory, "one") == 0);
    EXPECT(clinux_rename_unless_there(directory, "one", directory, "two") == 0);
    int other = clinux_open_unnamed_in(directory, 0600);
    EXPECT(other >= 0 && clinux_link_unnamed_in(other, directory, "one") == 0);
    EXPECT(clinux_rename_unless_there(directory, "one", directory, "two") == -1 && errno == EEXIST);
    EXPECT(clinux_exchange(directory, "one", directory, "two") == 0);
    struct stat state;
    EXPECT(fstatat(directory, "one", &state, 0) == 0 && state.st_size == 5);
    snprintf(path, sizeof path, "%s/one", folder);
    int place = clinux_locate(path), again = clinux_reopen(place, O_RDONLY);
    EXPECT(place >= 0 && again >= 0 && read(again, name, 5) == 5 && memcmp(name, "sound", 5) == 0);
    ssize_t length = clinux_path_of(place, name, sizeof name);
    EXPECT(length == (ssize_t)strlen(path) && memcmp(name, path, length) == 0);
    EXPECT(clinux_lock(file) == 0 && clinux_lock(again) == -1);
    EXPECT(clinux_lock_byte(file, INT64_C(1) << 40) == 0);
    EXPECT(clinux_start_writing(file, 0, 5) == 0 && clinux_punch_hole(file, 0, 4) == 0);
    EXPECT(pread(file, name, 5, 0) == 5 && memcmp(name, "\0\0\0\0d", 5) == 0);
    EXPECT(unlinkat(directory, "one", 0) == 0 && unlinkat(directory, "two", 0) == 0);
    int descriptors[] = {directory, file, other, place, again};
    for (int index = 0; index < 5; index++) close(descriptors[index]);
}

static void check_processes(void) {
    int ends[2], pair[2], received = -1, status = 0;
    char bytes[16];
    EXPECT(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, ends) == 0 && pipe(pair) == 0);
    EXPECT(clinux_send(ends[0], "packet", 6, pair[1], 1) == 6);
    EXPECT(clinux_receive(ends[1], bytes, 3, &received) == -1 && errno == EMSGSIZE);
    EXPECT(clinux_send(ends[0], "packet", 6, pair[1], 1) == 6);
    EXPECT(clinux_receive(ends[1], bytes, sizeof bytes, &received) == 6 && memcmp(bytes, "packet", 6) == 0 && received >= 0);
    pid_t pid = 0;
    char *arguments[] = {"sh", "-c", "echo $WORD >&3", NULL}, *environment[] = {"WORD=child", NULL};
    EXPECT(clinux_spawn(&pid, "/bin/sh", arguments, environment, (int[]){-1, -1, 2, received}, 4) == 0);
    EXPECT(waitpid(pid, &status, 0) == pid && WIFEXITED(status) && WEXITSTATUS(status) == 0);
    EXPECT(read(pair[0], bytes, sizeof bytes) == 6 && memcmp(bytes, "child\n", 6) == 0);
    struct rlimit limit;
    EXPECT(clinux_limit(RLIMIT_CORE, 0) == 0 && getrlimit(RLIMIT_CORE, &limit) == 0 && limit.rlim_max == 0);
    EXPECT(clinux_die_with_parent() == 0 && clinux_no_new_privileges() == 0);
}

static void check_options(void) {
    char *words[] = {"respool", "file", "--format=mp3", "-q"};
    struct clinux_option options[] = {{"format", 'f', 1, 0}, {"quiet", 'q', 0, 1}};
    struct clinux_found found[64];
    struct clinux_options result = clinux_parse_options(4, words, 0, options, 2, found);
    EXPECT(result.outcome == CLINUX_OPTIONS_PARSED && result.found == 2 && result.operands == 3);
    EXPECT(found[0].index == 0 && strcmp(found[0].value, "mp3") == 0 && found[1].index == 1);
    char *wrong[] = {"respool", "-x"};
    result = clinux_parse_options(2, wrong, 0, options, 2, found);
    EXPECT(result.outcome == CLINUX_OPTION_UNKNOWN && result.letter == 'x');
    EXPECT(setlocale(LC_CTYPE, "C.UTF-8") && clinux_columns(U'ä') == 1 && clinux_columns(U'音') == 2);
}

static void check_tags(void) {
    // Bytes above 127 and a negative-looking length differ where `char` has no sign.
    const char *title = "Übung 音";
    enum tag_form forms[] = {TAG_FORM_ID3, TAG_FORM_VORBIS, TAG_FORM_APE};
    for (int index = 0; index < 3; index++) {
        struct tag_content *content = tag_content_make(), *read = tag_content_make();
        tag_content_add_text(content, "TITLE", title);
        struct tag_bytes bytes = tag_content_render(content, forms[index], NULL, 0);
        EXPECT(bytes.bytes && tag_content_parse(read, forms[index], bytes.bytes, bytes.count, NULL));
        EXPECT(tag_content_text_count(read) == 1 && strcmp(tag_content_text_value(read, 0), title) == 0);
        tag_bytes_free(bytes);
        tag_content_free(content);
        tag_content_free(read);
    }
    char *text = tag_charset_open("ISO-8859-1") ? tag_charset_decode("ISO-8859-1", (const uint8_t *)"\xdc", 1) : NULL;
    EXPECT(text && strcmp(text, "Ü") == 0);
    free(text);
    char *genre = tag_id3v1_genre(79);
    EXPECT(genre && strcmp(genre, "Hard Rock") == 0);
    free(genre);
}

static void check_libav(void) {
    AVFormatContext *context = avformat_alloc_context();
    AVDictionary *tags = NULL;
    char name[16];
    tag_limit_begin(context, 100, 1 << 20, 1 << 20);
    for (int index = 0; index < 1000; index++) {
        snprintf(name, sizeof name, "%d", index);
        av_dict_set(&tags, name, "value", 0);
    }
    struct tag_limit_excess excess = tag_limit_end(context);
    EXPECT(excess.tags && !excess.chapters && av_dict_count(tags) == 100);
    av_dict_free(&tags);
    avformat_free_context(context);
    // RFC 1321, section A.5.
    uint8_t sum[16], nothing[16];
    av_md5_sum(sum, (const uint8_t *)"abc", 3);
    EXPECT(memcmp(sum, "\x90\x01\x50\x98\x3c\xd2\x4f\xb0\xd6\x96\x3f\x7d\x28\xe1\x7f\x72", 16) == 0);
    av_md5_sum(nothing, NULL, 0);
    struct AVMD5 *state = av_md5_alloc();
    sample_sum_leave_out(true);
    av_md5_init(state);
    av_md5_update(state, (const uint8_t *)"abc", 3);
    sample_sum_leave_out(false);
    av_md5_final(state, sum);
    EXPECT(memcmp(sum, nothing, 16) == 0);
    av_free(state);
}

int main(void) {
    char folder[] = "/tmp/respool-check-XXXXXX";
    EXPECT(mkdtemp(folder));
    check_files(folder);
    rmdir(folder);
    check_options();
    check_tags();
    check_libav();
    size_t length = 0;
    EXPECT(queue_script("claim", &length) && length > 100 && !queue_script("none", &length));
    EXPECT(page_asset_count() > 5 && page_asset_at(0).count > 0);
    enum cservertls_problem problem;
    const char *text = NULL;
    EXPECT(!cservertls_load("", 0, "", 0, &problem, &text) && problem == CSERVERTLS_CHAIN && text);
    check_processes();
    return failures != 0;
}
