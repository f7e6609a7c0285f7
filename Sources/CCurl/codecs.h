#ifndef FEEDSTREAM_CCURL_CODECS_H
#define FEEDSTREAM_CCURL_CODECS_H

#include <stddef.h>
#include <stdint.h>

// The decoders that libcurl brings into the process with it: zlib, brotli and zstd. They are found by name when the
// program runs, so that building it takes libcurl's development package alone. Their binary interfaces are stable: the
// structures and functions below are those of zlib 1.x, brotli 1.x and zstd 1.x.

typedef struct {
  const uint8_t *next_in;
  unsigned int avail_in;
  unsigned long total_in;
  uint8_t *next_out;
  unsigned int avail_out;
  unsigned long total_out;
  const char *msg;
  void *state, *zalloc, *zfree, *opaque;
  int data_type;
  unsigned long adler, reserved;
} ccurl_z_stream;

typedef int (*ccurl_inflate_init2)(ccurl_z_stream *, int window_bits, const char *version, int stream_size);
typedef int (*ccurl_inflate)(ccurl_z_stream *, int flush);
typedef int (*ccurl_inflate_reset)(ccurl_z_stream *);
typedef int (*ccurl_inflate_end)(ccurl_z_stream *);

typedef void *(*ccurl_brotli_create)(void *alloc, void *free, void *opaque);
typedef int (*ccurl_brotli_decode)(void *, size_t *avail_in, const uint8_t **next_in, size_t *avail_out,
                                   uint8_t **next_out, size_t *total_out);
typedef void (*ccurl_brotli_destroy)(void *);

typedef struct {
  void *start;
  size_t size, pos;
} ccurl_zstd_out;
typedef struct {
  const void *start;
  size_t size, pos;
} ccurl_zstd_in;

typedef void *(*ccurl_zstd_create)(void);
typedef size_t (*ccurl_zstd_decode)(void *, ccurl_zstd_out *, ccurl_zstd_in *);
typedef size_t (*ccurl_zstd_set)(void *, int parameter, int value);
typedef unsigned int (*ccurl_zstd_is_error)(size_t);
typedef size_t (*ccurl_zstd_free)(void *);

#endif
