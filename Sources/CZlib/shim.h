#ifndef FEEDSTREAM_CZLIB_H
#define FEEDSTREAM_CZLIB_H

#include <zlib.h>

/// Begins to compress as gzip; `deflateInit2` is a macro.
static inline int czlib_begin_gzip(z_streamp stream, int level) {
  return deflateInit2(stream, level, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY);
}

#endif
