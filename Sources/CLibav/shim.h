#ifndef CLIBAV_SHIM_H
#define CLIBAV_SHIM_H
#include <libavcodec/ac3_parser.h>
#include <libavcodec/avcodec.h>
#include <libavcodec/vorbis_parser.h>
#include <libavformat/avformat.h>
#include <libavutil/aes.h>
#include <libavutil/audio_fifo.h>
#include <libavutil/avutil.h>
#include <libavutil/channel_layout.h>
#include <libavutil/crc.h>
#include <libavutil/dict.h>
#include <libavutil/error.h>
#include <libavutil/log.h>
#include <libavutil/md5.h>
#include <libavutil/opt.h>
#include <libavutil/samplefmt.h>
#include <libavutil/tx.h>
#include <libswresample/swresample.h>

// Swift imports only macros that expand to a plain literal. These do not, so they are declared as constants.
static const int av_swift_error_eof = AVERROR_EOF;
static const int av_swift_error_exit = AVERROR_EXIT;
static const int av_swift_error_invalid_data = AVERROR_INVALIDDATA;
static const int av_swift_error_experimental = AVERROR_EXPERIMENTAL;
static const int av_swift_error_patchwelcome = AVERROR_PATCHWELCOME;
static const int64_t av_swift_no_timestamp = AV_NOPTS_VALUE;
static const AVRational av_swift_time_base = AV_TIME_BASE_Q;
static inline int av_swift_error(int errnum) { return AVERROR(errnum); }

// The bytes that a write callback receives: constant since libavformat 61 (FFmpeg 7).
#if LIBAVFORMAT_VERSION_MAJOR < 61
typedef uint8_t *av_swift_written_bytes;
#else
typedef const uint8_t *av_swift_written_bytes;
#endif

// The side data of a stream is part of the codec parameters since libavcodec 60.31 (FFmpeg 6.1).
static inline int av_swift_has_side_data(const AVStream *stream, enum AVPacketSideDataType type) {
#if LIBAVCODEC_VERSION_INT < AV_VERSION_INT(60, 31, 0)
    return av_stream_get_side_data(stream, type, NULL) != NULL;
#else
    const AVCodecParameters *parameters = stream->codecpar;
    return av_packet_side_data_get(parameters->coded_side_data, parameters->nb_coded_side_data, type) != NULL;
#endif
}
#endif
