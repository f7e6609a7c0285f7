// Encodes pixels in a form that the client can show.
#include "image.h"

#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>

#include <jpeglib.h>
#include <spng.h>

/// The JPEG quality: good enough that no difference is visible at the size of a screen.
static const int quality = 82;

struct failure {
  struct jpeg_error_mgr manager;
  jmp_buf back;
};

static void leave(j_common_ptr info) { longjmp(((struct failure *)info->err)->back, 1); }

static uint8_t *encode_jpeg(const decoded_image *source, size_t *length) {
  struct jpeg_compress_struct info;
  struct failure failure;
  unsigned char *volatile written = NULL;
  unsigned char *target = NULL;
  unsigned long size = 0;
  info.err = jpeg_std_error(&failure.manager);
  failure.manager.error_exit = leave;
  if (setjmp(failure.back) == 0) {
    jpeg_create_compress(&info);
    jpeg_mem_dest(&info, &target, &size);
    info.image_width = source->width;
    info.image_height = source->height;
    info.input_components = 4;
    info.in_color_space = JCS_EXT_RGBA;
    jpeg_set_defaults(&info);
    jpeg_set_quality(&info, quality, TRUE);
    jpeg_start_compress(&info, TRUE);
    if (source->profile != NULL) jpeg_write_icc_profile(&info, source->profile, (unsigned)source->profile_length);
    while (info.next_scanline < info.image_height) {
      JSAMPROW row = source->rgba + (size_t)info.next_scanline * source->width * 4;
      jpeg_write_scanlines(&info, &row, 1);
    }
    jpeg_finish_compress(&info);
    written = target;
  }
  jpeg_destroy_compress(&info);
  *length = size;
  return written;
}

static uint8_t *encode_png(const decoded_image *source, size_t *length) {
  spng_ctx *context = spng_ctx_new(SPNG_CTX_ENCODER);
  if (context == NULL) return NULL;
  struct spng_ihdr header = {
    .width = source->width, .height = source->height, .bit_depth = 8, .color_type = SPNG_COLOR_TYPE_TRUECOLOR_ALPHA,
  };
  int code = spng_set_option(context, SPNG_ENCODE_TO_BUFFER, 1);
  if (code == 0) code = spng_set_ihdr(context, &header);
  if (code == 0 && source->profile != NULL) {
    struct spng_iccp profile = {
      .profile_name = "ICC profile", .profile_len = source->profile_length, .profile = (char *)source->profile,
    };
    code = spng_set_iccp(context, &profile);
  }
  if (code == 0) {
    const size_t size = (size_t)source->width * source->height * 4;
    code = spng_encode_image(context, source->rgba, size, SPNG_FMT_PNG, SPNG_ENCODE_FINALIZE);
  }
  uint8_t *written = code == 0 ? spng_get_png_buffer(context, length, &code) : NULL;
  spng_ctx_free(context);
  return written;
}

uint8_t *image_encode(const decoded_image *source, image_form *form, size_t *length) {
  if (*form == IMAGE_RGBA) {
    *length = (size_t)source->width * source->height * 4;
    return source->rgba;
  }
  if (*form == IMAGE_WEB && source->opaque) return encode_jpeg(source, length);
  *form = IMAGE_PNG;
  return encode_png(source, length);
}
