// PNG, decoded by libspng.
#include "image.h"

#include <stdlib.h>

#include <spng.h>

/// The maximum number of bytes in a chunk other than the pixels, and in all such chunks together, because comments can
/// expand a thousandfold.
static const size_t most_of_chunk = 2u << 20, most_of_chunks = 8u << 20;

static uint32_t number(const uint8_t *at) { return (uint32_t)at[0] << 24 | at[1] << 16 | at[2] << 8 | at[3]; }

static image_status failed(decoded_image *result, int code) {
  switch (code) {
    case SPNG_EMEM: return IMAGE_NO_MEMORY;
    case SPNG_IO_EOF: case SPNG_EIDAT_TOO_SHORT: return IMAGE_CUT_OFF;
    case SPNG_EUSER_WIDTH: case SPNG_EUSER_HEIGHT: return IMAGE_TOO_LARGE;
    case SPNG_ECHUNK_LIMITS:
      return image_fails(result, IMAGE_TOO_LARGE, "The image has more data besides its pixels than the limit allows.");
    default: return image_fails(result, IMAGE_CORRUPT, spng_strerror(code));
  }
}

/// Decodes row by row.
static int decode_rows(spng_ctx *context, image_scaler *scaler, uint8_t *row, size_t length, uint32_t height) {
  for (uint32_t y = 0; y < height; y++) {
    const int code = spng_decode_row(context, row, length);
    if (code != 0 && code != SPNG_EOI) return code;
    image_scaler_row(scaler, row);
  }
  return 0;
}

/// Decodes the whole image first, because the rows of an interlaced image arrive in seven passes.
static int decode_passes(spng_ctx *context, image_scaler *scaler, uint8_t *all, size_t length, uint32_t height) {
  struct spng_row_info row;
  int code;
  do {
    if ((code = spng_get_row_info(context, &row)) != 0) break;
    code = spng_decode_row(context, all + row.row_num * length, length);
  } while (code == 0);
  if (code != SPNG_EOI) return code;
  for (uint32_t y = 0; y < height; y++) image_scaler_row(scaler, all + y * length);
  return 0;
}

static image_status decode(spng_ctx *context, image_bytes bytes, image_box box, decoded_image *result) {
  struct spng_ihdr header;
  struct spng_exif exif;
  struct spng_iccp profile;
  int code;
  // Read the declared size first, to report it if the image is refused as too large.
  if (bytes.length >= 24) {
    result->source_width = number(bytes.bytes + 16);
    result->source_height = number(bytes.bytes + 20);
  }
  if ((code = spng_set_image_limits(context, IMAGE_LONGEST_SIDE, IMAGE_LONGEST_SIDE)) != 0
      || (code = spng_set_chunk_limits(context, most_of_chunk, most_of_chunks)) != 0
      || (code = spng_set_png_buffer(context, bytes.bytes, bytes.length)) != 0
      || (code = spng_get_ihdr(context, &header)) != 0) {
    return failed(result, code);
  }
  code = spng_get_exif(context, &exif);
  if (code != 0 && code != SPNG_ECHUNKAVAIL) return failed(result, code);
  const int turned = code == 0 ? image_orientation((const uint8_t *)exif.data, exif.length) : 1;
  if (spng_get_iccp(context, &profile) == 0) {
    image_keep_profile(result, (const uint8_t *)profile.profile, profile.profile_len);
  }
  image_status status = image_begin(result, header.width, header.height, turned, box);
  if (status != IMAGE_OK) return status;
  if ((code = spng_decode_image(context, NULL, 0, SPNG_FMT_RGBA8, SPNG_DECODE_TRNS | SPNG_DECODE_PROGRESSIVE)) != 0) {
    return failed(result, code);
  }
  const bool passes = header.interlace_method != SPNG_INTERLACE_NONE;
  const size_t length = (size_t)header.width * 4;
  uint8_t *room = malloc(passes ? length * header.height : length);
  image_scaler *scaler = image_scaler_create(result, header.width, header.height, turned, false);
  status = IMAGE_NO_MEMORY;
  if (room != NULL && scaler != NULL) {
    code = (passes ? decode_passes : decode_rows)(context, scaler, room, length, header.height);
    if (code != 0) status = failed(result, code);
    else if (image_scaler_finish(scaler)) status = IMAGE_OK;
  }
  image_scaler_free(scaler);
  free(room);
  return status;
}

image_status image_decode_png(image_bytes bytes, image_box box, decoded_image *result) {
  spng_ctx *context = spng_ctx_new(0);
  if (context == NULL) return IMAGE_NO_MEMORY;
  const image_status status = decode(context, bytes, box, result);
  spng_ctx_free(context);
  return status;
}
