#ifndef FEEDSTREAM_CCURL_CODECS_H
#define FEEDSTREAM_CCURL_CODECS_H

#include <stddef.h>
#include <stdint.h>

// The decoders that libcurl may load into the process: brotli and zstd. They are looked up by name at run time, so that
// the program also runs with a libcurl built without them. Nothing else here needs their development packages (2 MB),
// so those need not be installed. Their binary interfaces are stable: the structures and functions below are those of
// brotli 1.x and zstd 1.x.

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
