// The files of the page that `respool serve` shows. They are served as they are; there is no build step.
#pragma clang diagnostic ignored "-Wc23-extensions"

#include "CPage.h"

static const unsigned char actions_js[] = {
#embed "web/actions.js"
};
static const unsigned char api_js[] = {
#embed "web/api.js"
};
static const unsigned char app_js[] = {
#embed "web/app.js"
};
static const unsigned char barchart_js[] = {
#embed "web/barchart.js"
};
static const unsigned char callbacks_js[] = {
#embed "web/callbacks.js"
};
static const unsigned char commands_js[] = {
#embed "web/commands.js"
};
static const unsigned char compare_js[] = {
#embed "web/compare.js"
};
static const unsigned char dom_js[] = {
#embed "web/dom.js"
};
static const unsigned char events_js[] = {
#embed "web/events.js"
};
static const unsigned char fields_js[] = {
#embed "web/fields.js"
};
static const unsigned char filesource_js[] = {
#embed "web/filesource.js"
};
static const unsigned char format_js[] = {
#embed "web/format.js"
};
static const unsigned char groups_js[] = {
#embed "web/groups.js"
};
static const unsigned char icon_svg[] = {
#embed "web/icon.svg"
};
static const unsigned char index_html[] = {
#embed "web/index.html"
};
static const unsigned char job_js[] = {
#embed "web/job.js"
};
static const unsigned char jobs_js[] = {
#embed "web/jobs.js"
};
static const unsigned char lanes_js[] = {
#embed "web/lanes.js"
};
static const unsigned char limits_js[] = {
#embed "web/limits.js"
};
static const unsigned char lists_js[] = {
#embed "web/lists.js"
};
static const unsigned char opustags_js[] = {
#embed "web/opustags.js"
};
static const unsigned char overview_js[] = {
#embed "web/overview.js"
};
static const unsigned char playback_js[] = {
#embed "web/playback.js"
};
static const unsigned char player_js[] = {
#embed "web/player.js"
};
static const unsigned char preview_js[] = {
#embed "web/preview.js"
};
static const unsigned char push_js[] = {
#embed "web/push.js"
};
static const unsigned char rangepicker_js[] = {
#embed "web/rangepicker.js"
};
static const unsigned char rowlist_js[] = {
#embed "web/rowlist.js"
};
static const unsigned char scheduleform_js[] = {
#embed "web/scheduleform.js"
};
static const unsigned char schedules_js[] = {
#embed "web/schedules.js"
};
static const unsigned char style_css[] = {
#embed "web/style.css"
};
static const unsigned char tagtable_js[] = {
#embed "web/tagtable.js"
};
static const unsigned char texts_js[] = {
#embed "web/texts.js"
};
static const unsigned char timechart_js[] = {
#embed "web/timechart.js"
};
static const unsigned char timeline_js[] = {
#embed "web/timeline.js"
};
static const unsigned char upload_js[] = {
#embed "web/upload.js"
};
static const unsigned char view_js[] = {
#embed "web/view.js"
};
static const unsigned char waitchart_js[] = {
#embed "web/waitchart.js"
};
static const unsigned char wave_js[] = {
#embed "web/wave.js"
};
static const unsigned char waverange_js[] = {
#embed "web/waverange.js"
};
static const unsigned char workers_js[] = {
#embed "web/workers.js"
};

static const struct page_asset assets[] = {
    {"actions.js", "text/javascript; charset=utf-8", actions_js, sizeof(actions_js)},
    {"api.js", "text/javascript; charset=utf-8", api_js, sizeof(api_js)},
    {"app.js", "text/javascript; charset=utf-8", app_js, sizeof(app_js)},
    {"barchart.js", "text/javascript; charset=utf-8", barchart_js, sizeof(barchart_js)},
    {"callbacks.js", "text/javascript; charset=utf-8", callbacks_js, sizeof(callbacks_js)},
    {"commands.js", "text/javascript; charset=utf-8", commands_js, sizeof(commands_js)},
    {"compare.js", "text/javascript; charset=utf-8", compare_js, sizeof(compare_js)},
    {"dom.js", "text/javascript; charset=utf-8", dom_js, sizeof(dom_js)},
    {"events.js", "text/javascript; charset=utf-8", events_js, sizeof(events_js)},
    {"fields.js", "text/javascript; charset=utf-8", fields_js, sizeof(fields_js)},
    {"filesource.js", "text/javascript; charset=utf-8", filesource_js, sizeof(filesource_js)},
    {"format.js", "text/javascript; charset=utf-8", format_js, sizeof(format_js)},
    {"groups.js", "text/javascript; charset=utf-8", groups_js, sizeof(groups_js)},
    {"icon.svg", "image/svg+xml", icon_svg, sizeof(icon_svg)},
    {"index.html", "text/html; charset=utf-8", index_html, sizeof(index_html)},
    {"job.js", "text/javascript; charset=utf-8", job_js, sizeof(job_js)},
    {"jobs.js", "text/javascript; charset=utf-8", jobs_js, sizeof(jobs_js)},
    {"lanes.js", "text/javascript; charset=utf-8", lanes_js, sizeof(lanes_js)},
    {"limits.js", "text/javascript; charset=utf-8", limits_js, sizeof(limits_js)},
    {"lists.js", "text/javascript; charset=utf-8", lists_js, sizeof(lists_js)},
    {"opustags.js", "text/javascript; charset=utf-8", opustags_js, sizeof(opustags_js)},
    {"overview.js", "text/javascript; charset=utf-8", overview_js, sizeof(overview_js)},
    {"playback.js", "text/javascript; charset=utf-8", playback_js, sizeof(playback_js)},
    {"player.js", "text/javascript; charset=utf-8", player_js, sizeof(player_js)},
    {"preview.js", "text/javascript; charset=utf-8", preview_js, sizeof(preview_js)},
    {"push.js", "text/javascript; charset=utf-8", push_js, sizeof(push_js)},
    {"rangepicker.js", "text/javascript; charset=utf-8", rangepicker_js, sizeof(rangepicker_js)},
    {"rowlist.js", "text/javascript; charset=utf-8", rowlist_js, sizeof(rowlist_js)},
    {"scheduleform.js", "text/javascript; charset=utf-8", scheduleform_js, sizeof(scheduleform_js)},
    {"schedules.js", "text/javascript; charset=utf-8", schedules_js, sizeof(schedules_js)},
    {"style.css", "text/css; charset=utf-8", style_css, sizeof(style_css)},
    {"tagtable.js", "text/javascript; charset=utf-8", tagtable_js, sizeof(tagtable_js)},
    {"texts.js", "text/javascript; charset=utf-8", texts_js, sizeof(texts_js)},
    {"timechart.js", "text/javascript; charset=utf-8", timechart_js, sizeof(timechart_js)},
    {"timeline.js", "text/javascript; charset=utf-8", timeline_js, sizeof(timeline_js)},
    {"upload.js", "text/javascript; charset=utf-8", upload_js, sizeof(upload_js)},
    {"view.js", "text/javascript; charset=utf-8", view_js, sizeof(view_js)},
    {"waitchart.js", "text/javascript; charset=utf-8", waitchart_js, sizeof(waitchart_js)},
    {"wave.js", "text/javascript; charset=utf-8", wave_js, sizeof(wave_js)},
    {"waverange.js", "text/javascript; charset=utf-8", waverange_js, sizeof(waverange_js)},
    {"workers.js", "text/javascript; charset=utf-8", workers_js, sizeof(workers_js)},
};

size_t page_asset_count(void) { return sizeof(assets) / sizeof(assets[0]); }

struct page_asset page_asset_at(size_t index) { return assets[index]; }
