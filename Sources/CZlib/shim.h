#ifndef FEEDSTREAM_CZLIB_H
#define FEEDSTREAM_CZLIB_H

#include <zlib.h>

/// Begins gzip compression. This function exists because `deflateInit2` is a macro.
static inline int czlib_begin_gzip(z_streamp stream, int level) {
  return deflateInit2(stream, level, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY);
}

/// Begins compression without a header, as for WebSocket messages.
static inline int czlib_begin_raw_deflate(z_streamp stream, int level, int window_bits, int memory_level) {
  return deflateInit2(stream, level, Z_DEFLATED, -window_bits, memory_level, Z_DEFAULT_STRATEGY);
}

/// Begins decompression. This function exists because `inflateInit2` is a macro, whose documentation explains
/// `window_bits`.
static inline int czlib_begin_inflate(z_streamp stream, int window_bits) { return inflateInit2(stream, window_bits); }

/// Sets the memory from which zlib reads next, and to which it writes. zlib doesn't change its input, although `next_in`
/// isn't const.
static inline void czlib_set_buffers(z_streamp stream, const void *input, uInt count, void *output, uInt room) {
  stream->next_in = (Bytef *)input;
  stream->avail_in = count;
  stream->next_out = (Bytef *)output;
  stream->avail_out = room;
}

#endif
