// Written by Tools/client-fields.

/** The fields of a job, which docs/jobs.md explains; `null` leaves one out. */
export interface JobFields {
  /** for opus: audio, voip (speech) or lowdelay; default: audio */
  application?: string | number | boolean | null;
  /** with outputs: publishes all of them or none; default: false */
  atomic?: string | number | boolean | null;
  /** number of attempts, 1 to 100; default: 5 */
  attempts?: string | number | boolean | null;
  /** constant or average bit rate in bit/s: 192k or 192000; default: by codec */
  bit_rate?: string | number | boolean | null;
  /** cbr, abr or vbr, of those that the codec supports; default: by codec */
  bit_rate_mode?: string | number | boolean | null;
  /** for hls: bit rates of the variants: 64k,128k,256k; default: one variant */
  bit_rates?: string | number | boolean | null;
  /** for peaks: 8 or 16; default: 16 */
  bits?: string | number | boolean | null;
  /** gets a signed POST when the job ends; default: none */
  callback?: string | number | boolean | null;
  /** mono, stereo, 5.1, 7.1 and others; default: the source's, or the codec's */
  channel_layout?: string | number | boolean | null;
  /** the source's channels to keep, in output order: R,L or 2,1 or FC; default: as they are */
  channel_map?: string | number | boolean | null;
  /** 1 to 64; default: the source's, or the nearest that the codec supports */
  channels?: string | number | boolean | null;
  /** json or webvtt: also writes chapters to a file beside the result; default: none */
  chapters?: string | number | boolean | null;
  /** overrides the format's usual codec; default: by format */
  codec?: string | number | boolean | null;
  /** for png: foreground and background, #rrggbb or #rrggbbaa; default: #3366cc,#ffffff */
  colors?: string | number | boolean | null;
  /** the encoder's effort: ffmpeg's -compression_level; default: the encoder's */
  compression_level?: string | number | boolean | null;
  /** fail on a damaged or truncated source, or accept what can be decoded; default: fail */
  damage?: string | number | boolean | null;
  /** fails, even while running, if not finished by then: ISO 8601, or seconds from admission; default: never */
  deadline?: string | number | boolean | null;
  /** while a job with this key is unfinished, a push with the same key returns that job; default: none */
  dedup?: string | number | boolean | null;
  /** wait before the first attempt, counted from admission; default: 0 */
  delay?: string | number | boolean | null;
  /** for samples that lose bits: none, rectangular, triangular or shaped; default: triangular */
  dither?: string | number | boolean | null;
  /** share of the dynamic range compression of AC-3 and E-AC-3 to apply: 0 (none) to 1 (all); default: 1 */
  drc?: string | number | boolean | null;
  /** length of the range, instead of end; default: to the source's end */
  duration?: string | number | null;
  /** for spectrogram: range below full scale in dB, 10 to 200; default: 100 */
  dynamic_range?: string | number | boolean | null;
  /** end of the range (exclusive); default: the source's end */
  end?: string | number | null;
  /** expires if not started by then: ISO 8601, or seconds from admission; default: never */
  expires?: string | number | boolean | null;
  /** length of a fade at the start; default: 0 */
  fade_in?: string | number | boolean | null;
  /** length of a fade at the end; default: 0 */
  fade_out?: string | number | boolean | null;
  /** the container, or a common pair of container and codec: see `respool formats` */
  format?: string;
  /** for opus: length of a packet in ms: 2.5 5 10 20 40 60 80 100 120; default: 20 */
  frame_duration?: string | number | boolean | null;
  /** change of level in dB: -3 or 6; default: 0 */
  gain?: string | number | boolean | null;
  /** name under which jobs are watched, listed, cancelled and retried together; default: none */
  group?: string | number | boolean | null;
  /** removes sound below a frequency in Hz, by 12 dB an octave: 80; default: off */
  high_pass?: string | number | boolean | null;
  /** key of a concurrency limit, such as a host or a tenant; see `respool limit`; default: none */
  limit_key?: string | number | boolean | null;
  /** integrated loudness of the result in LUFS (EBU R 128): -16; default: off */
  loudness?: string | number | boolean | null;
  /** removes sound above a frequency in Hz, by 12 dB an octave: 8000; default: off */
  low_pass?: string | number | boolean | null;
  /** tags to set: {"title": "…", "artist": ["…", "…"]}; "" removes one; default: carried over */
  metadata?: string | Record<string, unknown> | unknown[] | null;
  /** mix matrix, one expression per output channel: FL=FL+0.707FC,FR=FR+0.707FC; default: by layout */
  mix?: string | number | boolean | null;
  /** starts no earlier than an ISO 8601 instant: 2030-01-31T12:00:00Z; default: now */
  not_before?: string | number | boolean | null;
  /** where the result goes: a path under the output root, s3://bucket/key, a URL for a PUT, or ftp://, ftps://, sftp:// if the operator allows it; {stem}.{ext} and other templates are expanded; default: <job id>.<extension> */
  output?: string | number | boolean | null;
  /** for an output that is a URL: name of the operator's credentials to use; default: none */
  output_credentials?: string | number | boolean | null;
  /** for an output that is a URL: {"x-ms-blob-type": "BlockBlob"}; default: the content-type */
  output_headers?: string | Record<string, unknown> | unknown[] | null;
  /** for an output that is a URL: PUT or POST; default: PUT */
  output_method?: string | number | boolean | null;
  /** several results from one decode: a list of objects, each with its own fields; default: one result */
  outputs?: string | Record<string, unknown> | unknown[] | null;
  /** if the output exists: replace it, skip this output with a warning, or fail; default: replace */
  overwrite?: string | number | boolean | null;
  /** auto copies packets that need no encoding, never always encodes, require fails if a copy is not possible; default: auto */
  passthrough?: string | number | boolean | null;
  /** for peaks: json or dat, the formats of audiowaveform; default: by the output's name, else json */
  peaks_format?: string | number | boolean | null;
  /** for peaks: points per second, instead of zoom; default: by zoom */
  pixels_per_second?: string | number | boolean | null;
  /** for peaks: at most this many points for the whole result, 1 to 4000, instead of zoom; default: by zoom */
  points?: string | number | boolean | null;
  /** high, normal or low; a higher priority always goes first; default: normal */
  priority?: string | number | boolean | null;
  /** a value on the codec's VBR scale; default: by codec */
  quality?: string | number | boolean | null;
  /** track writes ReplayGain tags; default: off */
  replay_gain?: string | number | boolean | null;
  /** swr, or soxr, which has the steepest filter; default: swr */
  resampler?: string | number | boolean | null;
  /** u8 s8 s16 s24 s32 f32 f64; for PCM also with le or be; default: the source's */
  sample_format?: string | number | boolean | null;
  /** sample rate in Hz: 44100; default: the source's, or the nearest that the codec supports */
  sample_rate?: string | number | boolean | null;
  /** for hls: the length of a segment, 1 to 60 s; default: 10 */
  segment_duration?: string | number | boolean | null;
  /** for hls: fmp4 or mpegts; default: fmp4 */
  segment_format?: string | number | boolean | null;
  /** for png up to 10000x4000, for spectrogram up to 4000x2000 pixels; default: 1800x280, or 1024x512 */
  size?: string | number | boolean | null;
  /** where the audio is: https://, http://, s3://bucket/key, file:/// under an allowed root, or ftp://, ftps://, sftp:// if the operator allows it */
  source: string;
  /** for a source that is a URL: name of the operator's credentials to use; default: none */
  source_credentials?: string | number | boolean | null;
  /** for a source that is a URL: {"referer": "https://example.org/"}; default: none */
  source_headers?: string | Record<string, unknown> | unknown[] | null;
  /** for peaks, png and spectrogram: true draws each channel separately, false draws their mean; default: true for png, else false */
  split_channels?: string | number | boolean | null;
  /** start of the range: 5:00, 1:02:03.5, 300, 13230000/44100; default: 0 */
  start?: string | number | null;
  /** actual character set of tags declared as Latin-1: cp1251, gbk, shift_jis; default: as declared */
  tag_encoding?: string | number | boolean | null;
  /** speed without a change of pitch, 0.5 to 4: 1.25; default: 1 */
  tempo?: string | number | boolean | null;
  /** how many threads encode: auto, or 1 to 64; with a number, the result has the same bytes each time, and all numbers above 1 give the same; default: auto: the free cores */
  threads?: string | number | boolean | null;
  /** run time of one attempt; default: 3600 */
  timeout?: string | number | boolean | null;
  /** the trace that the job belongs to (W3C Trace Context); default: none */
  traceparent?: string | number | boolean | null;
  /** which audio track: a number from 1, or a language such as jpn, ger or de; all keeps every track in one file; default: the one that players choose */
  track?: string | number | boolean | null;
  /** removes silence from both ends, below a level in dB: -60; or -60,0.5 to keep silence shorter than 0.5 s; default: off */
  trim_silence?: string | number | boolean | null;
  /** the limiter's ceiling, or off; default: -1 with loudness or a gain above 0, else off */
  true_peak?: string | number | boolean | null;
  /** for peaks: samples per point; default: 256 */
  zoom?: string | number | boolean | null;
}
