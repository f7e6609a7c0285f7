// JPEG, decoded by libjpeg-turbo, which can scale an image down by eighths while it decodes.
#include "image.h"

#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jpeglib.h>
// This must follow jpeglib.h.
#include <jerror.h>

struct failure {
  struct jpeg_error_mgr manager;
  jmp_buf back;
  image_status status;
  /// True while a scan is read whose missing bits cause another warning, so that only the end marker may be missing.
  bool may_lack_end;
  /// True if the data has ended.
  bool ended;
  char message[JMSG_LENGTH_MAX];
};

static void leave(j_common_ptr info) {
  struct failure *failure = (struct failure *)info->err;
  failure->status = info->err->msg_code == JERR_OUT_OF_MEMORY ? IMAGE_NO_MEMORY : IMAGE_CORRUPT;
  info->err->format_message(info, failure->message);
  longjmp(failure->back, 1);
}

/// Ends decoding if the data ends within the image. After other damage, the library continues and counts it.
///
/// The library reads ahead. At the end of the data, it inserts an end marker, and warns again if it needs more bits.
static void warn(j_common_ptr info, int level) {
  if (level >= 0) return;
  info->err->num_warnings++;
  struct failure *failure = (struct failure *)info->err;
  if (!failure->ended) {
    if (info->err->msg_code != JWRN_JPEG_EOF) return;
    failure->ended = true;
    if (failure->may_lack_end) return;
  }
  failure->status = IMAGE_CUT_OFF;
  longjmp(failure->back, 1);
}

static void count_scans(j_common_ptr info) {
  if (!info->is_decompressor || ((j_decompress_ptr)info)->input_scan_number <= IMAGE_MOST_SCANS) return;
  struct failure *failure = (struct failure *)info->err;
  failure->status = IMAGE_TOO_LARGE;
  snprintf(failure->message, sizeof failure->message, "The image has more than %d scans.", IMAGE_MOST_SCANS);
  longjmp(failure->back, 1);
}

static int orientation(j_decompress_ptr info) {
  for (jpeg_saved_marker_ptr marker = info->marker_list; marker != NULL; marker = marker->next) {
    if (marker->marker == JPEG_APP0 + 1 && marker->data_length > 6 && memcmp(marker->data, "Exif\0", 5) == 0) {
      return image_orientation(marker->data, marker->data_length);
    }
  }
  return 1;
}

/// Keeps the color profile if it is in one marker, as a profile of up to 64 KiB usually is (ICC.1, annex B).
static void keep_profile(j_decompress_ptr info, decoded_image *result) {
  static const char magic[] = "ICC_PROFILE\0\1\1";
  const size_t length = sizeof magic - 1;
  for (jpeg_saved_marker_ptr marker = info->marker_list; marker != NULL; marker = marker->next) {
    if (marker->marker != JPEG_APP0 + 2 || marker->data_length < length) continue;
    if (memcmp(marker->data, magic, length) != 0 || marker->original_length != marker->data_length) continue;
    return image_keep_profile(result, marker->data + length, marker->data_length - length);
  }
}

/// Converts CMYK to RGBA. Adobe's programs write inverted CMYK, and most CMYK files come from those programs.
static void light(const uint8_t *inks, uint8_t *rgba, uint32_t width, bool inverted) {
  for (uint32_t x = 0; x < width; x++, inks += 4, rgba += 4) {
    const unsigned key = inverted ? inks[3] : 255u - inks[3];
    for (int i = 0; i < 3; i++) rgba[i] = (uint8_t)((inverted ? inks[i] : 255u - inks[i]) * key / 255);
    rgba[3] = 255;
  }
}

/// The memory to free after a `longjmp`.
struct room {
  image_scaler *volatile scaler;
  uint8_t *volatile row_memory;
  uint8_t *volatile inks;
};

static image_status decode(
  struct jpeg_decompress_struct *info, image_box box, decoded_image *result, struct room *room
) {
  // Save markers of the maximum length, because EXIF data is one marker.
  jpeg_save_markers(info, JPEG_APP0 + 1, 0xFFFF);
  jpeg_save_markers(info, JPEG_APP0 + 2, IMAGE_LONGEST_PROFILE + 14);
  jpeg_read_header(info, TRUE);
  keep_profile(info, result);
  const int turned = orientation(info);
  image_status status = image_begin(result, info->image_width, info->image_height, turned, box);
  if (status != IMAGE_OK) return status;
  uint32_t width, height;
  image_unturned(result, turned, &width, &height);
  info->scale_denom = 8;
  for (info->scale_num = 1; info->scale_num < 8; info->scale_num++) {
    jpeg_calc_output_dimensions(info);
    if (info->output_width >= width && info->output_height >= height) break;
  }
  const bool inked = info->jpeg_color_space == JCS_CMYK || info->jpeg_color_space == JCS_YCCK;
  info->out_color_space = inked ? JCS_CMYK : JCS_EXT_RGBA;
  jpeg_start_decompress(info);
  room->scaler = image_scaler_create(result, info->output_width, info->output_height, turned, true);
  const size_t length = (size_t)info->output_width * 4;
  room->row_memory = aligned_alloc(32, (length + 16 + 31) & ~(size_t)31);
  room->inks = inked ? malloc(length) : NULL;
  if (room->scaler == NULL || room->row_memory == NULL || (inked && room->inks == NULL)) return IMAGE_NO_MEMORY;
  // libjpeg-turbo writes around the cache if a row is aligned to 32 bytes; the scaler would then wait for each row.
  uint8_t *row_place = room->row_memory + 16;
  // Of several scans, one may be missing, and arithmetic coding doesn't warn about missing bits.
  ((struct failure *)info->err)->may_lack_end = !jpeg_has_multiple_scans(info) && !info->arith_code;
  while (info->output_scanline < info->output_height) {
    uint8_t *place = image_scaler_place(room->scaler);
    if (place == NULL) place = row_place;
    JSAMPROW row = inked ? room->inks : place;
    jpeg_read_scanlines(info, &row, 1);
    if (inked) light(room->inks, place, info->output_width, info->saw_Adobe_marker);
    image_scaler_row(room->scaler, place);
  }
  return image_scaler_finish(room->scaler) ? IMAGE_OK : IMAGE_NO_MEMORY;
}

image_status image_decode_jpeg(image_bytes bytes, image_box box, decoded_image *result) {
  struct jpeg_decompress_struct info;
  struct failure failure = {.message = ""};
  struct jpeg_progress_mgr progress = {.progress_monitor = count_scans};
  struct room room = {NULL, NULL, NULL};
  image_status status;
  info.err = jpeg_std_error(&failure.manager);
  failure.manager.error_exit = leave;
  failure.manager.emit_message = warn;
  if (setjmp(failure.back) == 0) {
    jpeg_create_decompress(&info);
    info.progress = &progress;
    jpeg_mem_src(&info, bytes.bytes, bytes.length);
    status = decode(&info, box, result, &room);
  } else {
    status = image_fails(result, failure.status, failure.message);
  }
  // Don't call jpeg_finish_decompress: all pixels are decoded, and a missing end marker doesn't matter.
  jpeg_destroy_decompress(&info);
  image_scaler_free(room.scaler);
  free(room.row_memory);
  free(room.inks);
  return status;
}
