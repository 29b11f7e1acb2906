-- Part of the scripts that check values: constants that Swift declares and Lua needs too. A test compares them with Swift and prints the
-- expected text.

local MAX_FIELDS, MAX_VALUE, MAX_BYTES = 64, 16384, 65536
local MAX_ATTEMPTS, MAX_TIMEOUT = 100, 86400
local MAX_DELAY, MAX_DEDUP = 31536000, 256
local LATE = 'the job did not finish before its deadline'
local MAX_CALLBACK = 2048
local TRACEPARENT_RULE = 'it must be of the form 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01, in lower case, no id all zeros'
local CALLBACK_RULE = 'it must begin with https:// or http:// and have a host, no spaces and at most 2048 bytes'
-- Each between two line ends.
local FIELDS = [[

source
source_credentials
source_headers
format
codec
bit_rate
quality
compression_level
bit_rate_mode
application
frame_duration
sample_rate
channels
channel_layout
sample_format
segment_duration
segment_format
bit_rates
peaks_format
zoom
pixels_per_second
points
bits
split_channels
size
colors
dynamic_range
start
end
duration
channel_map
mix
high_pass
tempo
resampler
loudness
true_peak
gain
fade_in
fade_out
trim_silence
replay_gain
dither
output
output_method
output_headers
output_credentials
overwrite
outputs
atomic
priority
delay
not_before
attempts
timeout
expires
deadline
dedup
metadata
chapters
tag_encoding
passthrough
track
damage
drc
threads
group
limit_key
callback
traceparent
]]
