// The texts of the queue's scripts. `#embed` (C23) compiles at once, where an array literal in Swift of the same size takes ten
// times as long (SwiftPM's `.embedInCode`).
#pragma clang diagnostic ignored "-Wc23-extensions"

#include "CQueueScripts.h"

#include <string.h>

static const unsigned char admission[] = {
#embed "../Jobs/Scripts/admission.lua"
};
static const unsigned char admit[] = {
#embed "../Jobs/Scripts/admit.lua"
};
static const unsigned char admit_and_seal[] = {
#embed "../Jobs/Scripts/admit_and_seal.lua"
};
static const unsigned char base[] = {
#embed "../Jobs/Scripts/base.lua"
};
static const unsigned char beat[] = {
#embed "../Jobs/Scripts/beat.lua"
};
static const unsigned char bell[] = {
#embed "../Jobs/Scripts/bell.lua"
};
static const unsigned char callbacks[] = {
#embed "../Jobs/Scripts/callbacks.lua"
};
static const unsigned char cancel[] = {
#embed "../Jobs/Scripts/cancel.lua"
};
static const unsigned char claim[] = {
#embed "../Jobs/Scripts/claim.lua"
};
static const unsigned char claim_callbacks[] = {
#embed "../Jobs/Scripts/claim_callbacks.lua"
};
static const unsigned char constants[] = {
#embed "../Jobs/Scripts/constants.lua"
};
static const unsigned char core[] = {
#embed "../Jobs/Scripts/core.lua"
};
static const unsigned char defaults[] = {
#embed "../Jobs/Scripts/defaults.lua"
};
static const unsigned char endings[] = {
#embed "../Jobs/Scripts/endings.lua"
};
static const unsigned char enqueue[] = {
#embed "../Jobs/Scripts/enqueue.lua"
};
static const unsigned char failed[] = {
#embed "../Jobs/Scripts/failed.lua"
};
static const unsigned char finish[] = {
#embed "../Jobs/Scripts/finish.lua"
};
static const unsigned char finish_callback[] = {
#embed "../Jobs/Scripts/finish_callback.lua"
};
static const unsigned char groups[] = {
#embed "../Jobs/Scripts/groups.lua"
};
static const unsigned char inbox[] = {
#embed "../Jobs/Scripts/inbox.lua"
};
static const unsigned char limit[] = {
#embed "../Jobs/Scripts/limit.lua"
};
static const unsigned char limits[] = {
#embed "../Jobs/Scripts/limits.lua"
};
static const unsigned char list[] = {
#embed "../Jobs/Scripts/list.lua"
};
static const unsigned char maintenance[] = {
#embed "../Jobs/Scripts/maintenance.lua"
};
static const unsigned char mending[] = {
#embed "../Jobs/Scripts/mending.lua"
};
static const unsigned char meta[] = {
#embed "../Jobs/Scripts/meta.lua"
};
static const unsigned char options[] = {
#embed "../Jobs/Scripts/options.lua"
};
static const unsigned char parts[] = {
#embed "../Jobs/Scripts/parts.lua"
};
static const unsigned char pause[] = {
#embed "../Jobs/Scripts/pause.lua"
};
static const unsigned char publish[] = {
#embed "../Jobs/Scripts/publish.lua"
};
static const unsigned char purge[] = {
#embed "../Jobs/Scripts/purge.lua"
};
static const unsigned char queued[] = {
#embed "../Jobs/Scripts/queued.lua"
};
static const unsigned char quiet[] = {
#embed "../Jobs/Scripts/quiet.lua"
};
static const unsigned char recover[] = {
#embed "../Jobs/Scripts/recover.lua"
};
static const unsigned char redeliver[] = {
#embed "../Jobs/Scripts/redeliver.lua"
};
static const unsigned char repair[] = {
#embed "../Jobs/Scripts/repair.lua"
};
static const unsigned char replay[] = {
#embed "../Jobs/Scripts/replay.lua"
};
static const unsigned char reply[] = {
#embed "../Jobs/Scripts/reply.lua"
};
static const unsigned char reschedule[] = {
#embed "../Jobs/Scripts/reschedule.lua"
};
static const unsigned char retention[] = {
#embed "../Jobs/Scripts/retention.lua"
};
static const unsigned char retry[] = {
#embed "../Jobs/Scripts/retry.lua"
};
static const unsigned char ring[] = {
#embed "../Jobs/Scripts/ring.lua"
};
static const unsigned char schedule[] = {
#embed "../Jobs/Scripts/schedule.lua"
};
static const unsigned char stats[] = {
#embed "../Jobs/Scripts/stats.lua"
};

#define SCRIPT(name) {#name, name, sizeof(name)}

static const struct {
    const char *name;
    const unsigned char *text;
    size_t length;
} scripts[] = {
    SCRIPT(admission), SCRIPT(admit), SCRIPT(admit_and_seal), SCRIPT(base), SCRIPT(beat), SCRIPT(bell),
    SCRIPT(callbacks), SCRIPT(cancel), SCRIPT(claim), SCRIPT(claim_callbacks), SCRIPT(constants), SCRIPT(core),
    SCRIPT(defaults), SCRIPT(endings), SCRIPT(enqueue), SCRIPT(failed), SCRIPT(finish), SCRIPT(finish_callback), SCRIPT(groups),
    SCRIPT(inbox), SCRIPT(limit), SCRIPT(limits), SCRIPT(list), SCRIPT(maintenance), SCRIPT(mending), SCRIPT(meta),
    SCRIPT(options), SCRIPT(parts), SCRIPT(pause), SCRIPT(publish), SCRIPT(purge), SCRIPT(queued), SCRIPT(quiet),
    SCRIPT(recover), SCRIPT(redeliver), SCRIPT(repair), SCRIPT(replay), SCRIPT(reply), SCRIPT(reschedule),
    SCRIPT(retention), SCRIPT(retry), SCRIPT(ring), SCRIPT(schedule), SCRIPT(stats),
};

const unsigned char *queue_script(const char *name, size_t *length) {
    for (size_t index = 0; index < sizeof(scripts) / sizeof(scripts[0]); index++) {
        if (strcmp(scripts[index].name, name) != 0) continue;
        *length = scripts[index].length;
        return scripts[index].text;
    }
    return NULL;
}
