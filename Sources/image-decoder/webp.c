// WebP, decoded by libwebp, which can scale an image down while it decodes. Only the first frame of an animation is
// decoded.
#include "image.h"

#include <stdlib.h>
#include <string.h>

#include <webp/decode.h>
#include <webp/demux.h>

static image_status failed(decoded_image *result, VP8StatusCode code) {
  switch (code) {
    case VP8_STATUS_OUT_OF_MEMORY: return IMAGE_NO_MEMORY;
    case VP8_STATUS_NOT_ENOUGH_DATA: case VP8_STATUS_SUSPENDED: return IMAGE_CUT_OFF;
    case VP8_STATUS_UNSUPPORTED_FEATURE: return IMAGE_UNSUPPORTED;
    default: return image_fails(result, IMAGE_CORRUPT, "The WebP data is damaged.");
  }
}

/// Decodes into `rgba`, scaled to this size.
static VP8StatusCode decode(image_bytes bytes, uint8_t *rgba, uint32_t width, uint32_t height) {
  WebPDecoderConfig config;
  if (!WebPInitDecoderConfig(&config)) return VP8_STATUS_INVALID_PARAM;
  config.options.use_scaling = 1;
  config.options.scaled_width = (int)width;
  config.options.scaled_height = (int)height;
  config.output.colorspace = MODE_RGBA;
  config.output.is_external_memory = 1;
  config.output.u.RGBA = (WebPRGBABuffer){rgba, (int)width * 4, (size_t)width * height * 4};
  return WebPDecode(bytes.bytes, bytes.length, &config);
}

/// Passes the rows of a canvas, which is initially transparent, to the scaler.
static image_status scale(decoded_image *result, uint32_t *canvas, uint32_t width, uint32_t height, int turned) {
  image_scaler *scaler = image_scaler_create(result, width, height, turned, false);
  if (scaler == NULL) return IMAGE_NO_MEMORY;
  for (uint32_t y = 0; y < height; y++) image_scaler_row(scaler, (const uint8_t *)(canvas + (size_t)y * width));
  const bool finished = image_scaler_finish(scaler);
  image_scaler_free(scaler);
  return finished ? IMAGE_OK : IMAGE_NO_MEMORY;
}

static image_status decode_frame(const WebPIterator *frame, uint32_t width, uint32_t height, decoded_image *result) {
  if (frame->x_offset < 0 || frame->y_offset < 0 || (uint32_t)(frame->x_offset + frame->width) > width
      || (uint32_t)(frame->y_offset + frame->height) > height) {
    return image_fails(result, IMAGE_CORRUPT, "A frame lies outside its image.");
  }
  uint32_t *pixels = malloc((size_t)frame->width * frame->height * 4), *canvas = calloc((size_t)width * height, 4);
  image_status status = IMAGE_NO_MEMORY;
  if (pixels != NULL && canvas != NULL) {
    const image_bytes bytes = {frame->fragment.bytes, frame->fragment.size};
    const VP8StatusCode code = decode(bytes, (uint8_t *)pixels, (uint32_t)frame->width, (uint32_t)frame->height);
    if (code == VP8_STATUS_OK) {
      for (int y = 0; y < frame->height; y++) {
        memcpy(canvas + (size_t)(y + frame->y_offset) * width + frame->x_offset, pixels + (size_t)y * frame->width,
               (size_t)frame->width * 4);
      }
      status = scale(result, canvas, width, height, 1);
    } else {
      status = failed(result, code);
    }
  }
  free(pixels);
  free(canvas);
  return status;
}

/// Keeps the color profile.
static void keep_profile(WebPDemuxer *demuxer, decoded_image *result) {
  WebPChunkIterator chunk;
  if (!WebPDemuxGetChunk(demuxer, "ICCP", 1, &chunk)) return;
  image_keep_profile(result, chunk.chunk.bytes, chunk.chunk.size);
  WebPDemuxReleaseChunkIterator(&chunk);
}

static image_status decode_first(image_bytes bytes, image_box box, decoded_image *result) {
  const WebPData data = {bytes.bytes, bytes.length};
  WebPDemuxState state;
  WebPDemuxer *demuxer = WebPDemuxPartial(&data, &state);
  if (demuxer == NULL) {
    return state == WEBP_DEMUX_PARSE_ERROR ? failed(result, VP8_STATUS_BITSTREAM_ERROR) : IMAGE_CUT_OFF;
  }
  keep_profile(demuxer, result);
  const uint32_t width = WebPDemuxGetI(demuxer, WEBP_FF_CANVAS_WIDTH), height = WebPDemuxGetI(demuxer, WEBP_FF_CANVAS_HEIGHT);
  image_status status = image_begin(result, width, height, 1, box);
  WebPIterator frame;
  if (status == IMAGE_OK) {
    if (WebPDemuxGetFrame(demuxer, 1, &frame)) {
      status = frame.complete ? decode_frame(&frame, width, height, result) : IMAGE_CUT_OFF;
      WebPDemuxReleaseIterator(&frame);
    } else {
      status = IMAGE_CUT_OFF;
    }
  }
  WebPDemuxDelete(demuxer);
  return status;
}

/// Returns the orientation, and keeps the color profile.
static int read_metadata(image_bytes bytes, decoded_image *result) {
  const WebPData data = {bytes.bytes, bytes.length};
  WebPDemuxer *demuxer = WebPDemux(&data);
  WebPChunkIterator chunk;
  int turned = 1;
  if (demuxer == NULL) return turned;
  if (WebPDemuxGetChunk(demuxer, "EXIF", 1, &chunk)) {
    turned = image_orientation(chunk.chunk.bytes, chunk.chunk.size);
    WebPDemuxReleaseChunkIterator(&chunk);
  }
  keep_profile(demuxer, result);
  WebPDemuxDelete(demuxer);
  return turned;
}

image_status image_decode_webp(image_bytes bytes, image_box box, decoded_image *result) {
  WebPBitstreamFeatures features;
  const VP8StatusCode code = WebPGetFeatures(bytes.bytes, bytes.length, &features);
  if (code != VP8_STATUS_OK) return failed(result, code);
  if (features.has_animation) return decode_first(bytes, box, result);
  const int turned = read_metadata(bytes, result);
  image_status status = image_begin(result, (uint32_t)features.width, (uint32_t)features.height, turned, box);
  if (status != IMAGE_OK) return status;
  uint32_t width, height;
  image_unturned(result, turned, &width, &height);
  uint32_t *pixels = malloc((size_t)width * height * 4);
  if (pixels == NULL) return IMAGE_NO_MEMORY;
  const VP8StatusCode decoded = decode(bytes, (uint8_t *)pixels, width, height);
  status = decoded == VP8_STATUS_OK ? scale(result, pixels, width, height, turned) : failed(result, decoded);
  free(pixels);
  return status;
}
