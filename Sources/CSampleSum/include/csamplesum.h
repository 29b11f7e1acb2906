// The MD5 that libavcodec computes of the samples that it encodes.
#pragma once

#include <stdbool.h>

/// Lets encoders on this thread leave out the MD5 of their samples, or include it again. Where libavcodec does not call this target's
/// `av_md5_update`, nothing changes.
void sample_sum_leave_out(bool is_left_out);
