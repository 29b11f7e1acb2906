#define _GNU_SOURCE
#include "CLinux.h"

#include <getopt.h>
#include <pthread.h>
#include <stdlib.h>

// getopt_long keeps its state in globals.
static pthread_mutex_t parsing = PTHREAD_MUTEX_INITIALIZER;

// Values outside the range of letters: a long option returns this plus its index.
enum { first_value = 256 };

static int index_of(int value, const struct clinux_option *options, size_t count) {
    if (value >= first_value) return value - first_value;
    for (size_t index = 0; index < count; index++)
        if (options[index].letter == value) return options[index].index;
    return -1;
}

static struct clinux_options parse(
    int count, char *words[], const char *letters, const struct option *table, const struct clinux_option *options,
    size_t option_count, struct clinux_found found[]) {
    struct clinux_options result = {.outcome = CLINUX_OPTIONS_PARSED};
    optind = 0; // 0, not 1: resets the state of an earlier call.
    opterr = 0;
    for (;;) {
        int value = getopt_long(count, words, letters, table, NULL);
        if (value == -1) break;
        if (value == '?' || value == ':') {
            result.outcome = value == ':' ? CLINUX_OPTION_WITHOUT_VALUE
                             : optopt >= first_value ? CLINUX_OPTION_WITH_VALUE
                                                     : CLINUX_OPTION_UNKNOWN;
            result.letter = optopt > 0 && optopt < first_value ? optopt : 0;
            result.index = optopt > 0 ? index_of(optopt, options, option_count) : -1;
            result.word = optind - 1;
            break;
        }
        found[result.found].index = index_of(value, options, option_count);
        found[result.found].value = optarg;
        result.found++;
    }
    result.operands = optind;
    return result;
}

struct clinux_options clinux_parse_options(
    int count, char *words[], int stop_at_operand, const struct clinux_option *options, size_t option_count,
    struct clinux_found found[]) {
    struct clinux_options failed = {.outcome = CLINUX_OPTIONS_NO_MEMORY};
    struct option *table = calloc(option_count + 1, sizeof *table);
    char *letters = calloc(2 * option_count + 3, 1);
    if (!table || !letters) {
        free(table);
        free(letters);
        return failed;
    }
    char *next = letters;
    if (stop_at_operand) *next++ = '+';
    *next++ = ':'; // A missing value returns ':' instead of '?'.
    for (size_t index = 0; index < option_count; index++) {
        table[index].name = options[index].name;
        table[index].has_arg = options[index].takes_value ? required_argument : no_argument;
        table[index].val = first_value + options[index].index;
        if (options[index].letter == 0) continue;
        *next++ = options[index].letter;
        if (options[index].takes_value) *next++ = ':';
    }
    pthread_mutex_lock(&parsing);
    struct clinux_options result = parse(count, words, letters, table, options, option_count, found);
    pthread_mutex_unlock(&parsing);
    free(table);
    free(letters);
    return result;
}
