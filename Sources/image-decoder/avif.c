// AVIF, decoded by libavif and dav1d on this thread only, because the process can't start threads. Only the first frame
// of a sequence is decoded.
#include "image.h"

#include <stdlib.h>
#include <string.h>

#include <avif/avif.h>

/// The maximum number of frames that a sequence may declare: each takes memory before anything is decoded.
static const uint32_t most_frames = 20000;
/// The number of rows that are converted to RGBA at a time, so that the whole image isn't in memory twice. The number
/// is even, because two rows share their color samples.
static const uint32_t rows_at_a_time = 64;

static image_status failed(decoded_image *result, const avifDecoder *decoder, avifResult code) {
  switch (code) {
    case AVIF_RESULT_OUT_OF_MEMORY: return IMAGE_NO_MEMORY;
    case AVIF_RESULT_TRUNCATED_DATA: case AVIF_RESULT_IO_ERROR: return IMAGE_CUT_OFF;
    case AVIF_RESULT_NOT_IMPLEMENTED: case AVIF_RESULT_UNSUPPORTED_DEPTH: case AVIF_RESULT_NO_CODEC_AVAILABLE:
      return image_fails(result, IMAGE_UNSUPPORTED, "This kind of AVIF image is not supported.");
    default: break;
  }
  // libavif has no result codes for its limits.
  if (strstr(decoder->diag.error, "too large") != NULL || strstr(decoder->diag.error, "imageCountLimit") != NULL) {
    return IMAGE_TOO_LARGE;
  }
  return image_fails(result, IMAGE_CORRUPT, "The AVIF data is damaged.");
}

/// The EXIF orientation: a quarter turn to the left for each step of `irot`, followed by the mirroring that `imir`
/// requires.
static int orientation(const avifImage *image) {
  static const int turned[] = {1, 8, 3, 6}, upside_down[] = {4, 5, 2, 7}, mirrored[] = {2, 7, 4, 5};
  const int angle = image->transformFlags & AVIF_TRANSFORM_IROT ? image->irot.angle & 3 : 0;
  if (!(image->transformFlags & AVIF_TRANSFORM_IMIR)) return turned[angle];
  return (image->imir.mode == 0 ? upside_down : mirrored)[angle];
}

/// Passes the rows of a decoded image to the scaler.
static image_status scale(const avifImage *image, int turned, decoded_image *result) {
  const size_t length = (size_t)image->width * 4;
  uint8_t *rows = malloc(length * rows_at_a_time);
  avifImage *part = avifImageCreateEmpty();
  image_scaler *scaler =
    image_scaler_create(result, image->width, image->height, turned, image->alphaPlane == NULL);
  image_status status = rows == NULL || part == NULL || scaler == NULL ? IMAGE_NO_MEMORY : IMAGE_OK;
  for (uint32_t y = 0; status == IMAGE_OK && y < image->height; y += rows_at_a_time) {
    const uint32_t left = image->height - y, count = left < rows_at_a_time ? left : rows_at_a_time;
    const avifCropRect rectangle = {0, y, image->width, count};
    avifRGBImage colors;
    if (avifImageSetViewRect(part, image, &rectangle) != AVIF_RESULT_OK) {
      status = image_fails(result, IMAGE_CORRUPT, "The AVIF data is damaged.");
      break;
    }
    avifRGBImageSetDefaults(&colors, part);
    colors.format = AVIF_RGB_FORMAT_RGBA;
    colors.depth = 8;
    colors.pixels = rows;
    colors.rowBytes = (uint32_t)length;
    if (avifImageYUVToRGB(part, &colors) != AVIF_RESULT_OK) {
      status = image_fails(result, IMAGE_UNSUPPORTED, "The color format of this AVIF image is not supported.");
      break;
    }
    for (uint32_t row = 0; row < count; row++) image_scaler_row(scaler, rows + row * length);
  }
  if (status == IMAGE_OK && !image_scaler_finish(scaler)) status = IMAGE_NO_MEMORY;
  image_scaler_free(scaler);
  if (part != NULL) avifImageDestroy(part);
  free(rows);
  return status;
}

static image_status decode(avifDecoder *decoder, image_bytes bytes, image_box box, decoded_image *result) {
  // libavif's other decoders start threads.
  decoder->codecChoice = AVIF_CODEC_CHOICE_DAV1D;
  decoder->maxThreads = 1;
  decoder->imageSizeLimit = IMAGE_MOST_PIXELS;
  decoder->imageDimensionLimit = IMAGE_LONGEST_SIDE;
  decoder->imageCountLimit = most_frames;
  decoder->ignoreExif = AVIF_TRUE;
  decoder->ignoreXMP = AVIF_TRUE;
  // Many encoders omit this property, and browsers don't require it.
  decoder->strictFlags = AVIF_STRICT_ENABLED & ~(avifStrictFlags)AVIF_STRICT_PIXI_REQUIRED;
  avifResult code = avifDecoderSetIOMemory(decoder, bytes.bytes, bytes.length);
  if (code == AVIF_RESULT_OK) code = avifDecoderParse(decoder);
  if (code != AVIF_RESULT_OK) return failed(result, decoder, code);
  const int turned = orientation(decoder->image);
  image_keep_profile(result, decoder->image->icc.data, decoder->image->icc.size);
  image_status status = image_begin(result, decoder->image->width, decoder->image->height, turned, box);
  if (status != IMAGE_OK) return status;
  const uint32_t width = decoder->image->width, height = decoder->image->height;
  if ((code = avifDecoderNextImage(decoder)) != AVIF_RESULT_OK) return failed(result, decoder, code);
  if (decoder->image->width != width || decoder->image->height != height) {
    return image_fails(result, IMAGE_CORRUPT, "The AVIF image's size differs from the declared size.");
  }
  return scale(decoder->image, turned, result);
}

image_status image_decode_avif(image_bytes bytes, image_box box, decoded_image *result) {
  avifDecoder *decoder = avifDecoderCreate();
  if (decoder == NULL) return IMAGE_NO_MEMORY;
  const image_status status = decode(decoder, bytes, box, result);
  avifDecoderDestroy(decoder);
  return status;
}
