// The files of the page that `respool serve` shows. They are served as they are; there is no build step.
#pragma clang diagnostic ignored "-Wc23-extensions"

#include "CPage.h"

#include <string.h>

static const struct {
    const char *name;
    const unsigned char *bytes;
} assets[] = {
#define ASSET actions.js
#include "asset.h"
#define ASSET api.js
#include "asset.h"
#define ASSET app.js
#include "asset.h"
#define ASSET barchart.js
#include "asset.h"
#define ASSET callbacks.js
#include "asset.h"
#define ASSET commands.js
#include "asset.h"
#define ASSET compare.js
#include "asset.h"
#define ASSET dom.js
#include "asset.h"
#define ASSET events.js
#include "asset.h"
#define ASSET fields.js
#include "asset.h"
#define ASSET filesource.js
#include "asset.h"
#define ASSET format.js
#include "asset.h"
#define ASSET groups.js
#include "asset.h"
#define ASSET icon.svg
#include "asset.h"
#define ASSET index.html
#include "asset.h"
#define ASSET job.js
#include "asset.h"
#define ASSET jobs.js
#include "asset.h"
#define ASSET lanes.js
#include "asset.h"
#define ASSET limits.js
#include "asset.h"
#define ASSET lists.js
#include "asset.h"
#define ASSET opustags.js
#include "asset.h"
#define ASSET overview.js
#include "asset.h"
#define ASSET playback.js
#include "asset.h"
#define ASSET player.js
#include "asset.h"
#define ASSET preview.js
#include "asset.h"
#define ASSET push.js
#include "asset.h"
#define ASSET rangepicker.js
#include "asset.h"
#define ASSET rowlist.js
#include "asset.h"
#define ASSET scheduleform.js
#include "asset.h"
#define ASSET schedules.js
#include "asset.h"
#define ASSET style.css
#include "asset.h"
#define ASSET tagtable.js
#include "asset.h"
#define ASSET texts.js
#include "asset.h"
#define ASSET timechart.js
#include "asset.h"
#define ASSET timeline.js
#include "asset.h"
#define ASSET upload.js
#include "asset.h"
#define ASSET view.js
#include "asset.h"
#define ASSET waitchart.js
#include "asset.h"
#define ASSET wave.js
#include "asset.h"
#define ASSET waverange.js
#include "asset.h"
#define ASSET workers.js
#include "asset.h"
};

size_t page_asset_count(void) { return sizeof(assets) / sizeof(assets[0]); }

struct page_asset page_asset_at(size_t index) {
    return (struct page_asset){assets[index].name, assets[index].bytes, strlen((const char *)assets[index].bytes)};
}
