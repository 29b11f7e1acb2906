// The texts of the queue's scripts. `#embed` (C23) compiles at once, where an array literal in Swift of the same size takes ten
// times as long (SwiftPM's `.embedInCode`).
#pragma clang diagnostic ignored "-Wc23-extensions"

#include "CQueueScripts.h"

#include <string.h>

static const struct {
    const char *name;
    const unsigned char *text;
} scripts[] = {
#define SCRIPT admission
#include "script.h"
#define SCRIPT admit
#include "script.h"
#define SCRIPT admit_and_seal
#include "script.h"
#define SCRIPT base
#include "script.h"
#define SCRIPT beat
#include "script.h"
#define SCRIPT bell
#include "script.h"
#define SCRIPT callbacks
#include "script.h"
#define SCRIPT cancel
#include "script.h"
#define SCRIPT claim
#include "script.h"
#define SCRIPT claim_callbacks
#include "script.h"
#define SCRIPT core
#include "script.h"
#define SCRIPT endings
#include "script.h"
#define SCRIPT enqueue
#include "script.h"
#define SCRIPT failed
#include "script.h"
#define SCRIPT finish
#include "script.h"
#define SCRIPT finish_callback
#include "script.h"
#define SCRIPT groups
#include "script.h"
#define SCRIPT inbox
#include "script.h"
#define SCRIPT limit
#include "script.h"
#define SCRIPT limits
#include "script.h"
#define SCRIPT list
#include "script.h"
#define SCRIPT maintenance
#include "script.h"
#define SCRIPT mending
#include "script.h"
#define SCRIPT meta
#include "script.h"
#define SCRIPT options
#include "script.h"
#define SCRIPT parts
#include "script.h"
#define SCRIPT pause
#include "script.h"
#define SCRIPT publish
#include "script.h"
#define SCRIPT purge
#include "script.h"
#define SCRIPT queued
#include "script.h"
#define SCRIPT quiet
#include "script.h"
#define SCRIPT recover
#include "script.h"
#define SCRIPT redeliver
#include "script.h"
#define SCRIPT repair
#include "script.h"
#define SCRIPT replay
#include "script.h"
#define SCRIPT reply
#include "script.h"
#define SCRIPT reschedule
#include "script.h"
#define SCRIPT retention
#include "script.h"
#define SCRIPT retry
#include "script.h"
#define SCRIPT ring
#include "script.h"
#define SCRIPT schedule
#include "script.h"
#define SCRIPT stats
#include "script.h"
};

const unsigned char *queue_script(const char *name, size_t *length) {
    for (size_t index = 0; index < sizeof(scripts) / sizeof(scripts[0]); index++) {
        if (strcmp(scripts[index].name, name) != 0) continue;
        *length = strlen((const char *)scripts[index].text);
        return scripts[index].text;
    }
    return NULL;
}
