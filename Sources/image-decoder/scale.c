// Averages the source pixels of each pixel of a smaller image, weighted by opacity.
#include "image.h"

#include <malloc.h>
#include <stdlib.h>
#include <string.h>

/// The four channels of a pixel, for vector arithmetic.
typedef float quad __attribute__((vector_size(16)));
typedef uint8_t bytes __attribute__((vector_size(4)));

// Loops over a row are also compiled for wider registers, which are used if the processor has them.
#if defined(__x86_64__) && defined(__linux__)
#define WIDE __attribute__((target_clones("avx2", "default")))
#else
#define WIDE
#endif

/// The source pixels of one target pixel in a row: `first` to `last`. `head` and `tail` are the shares of those two
/// pixels; the pixels between them count in full.
struct span {
  uint32_t first, last;
  float head, tail;
};

struct image_scaler {
  decoded_image *result;
  int orientation;
  uint32_t source_width, source_height, width, height;
  uint32_t row, target;
  /// True if the sums are those of a part of the target row.
  bool has_sums;
  /// True if all source pixels are opaque, so that they needn't be weighted.
  bool opaque;
  /// For each source column, the sum of the rows that belong to the target row; null if the image isn't scaled.
  quad *sums;
  struct span *spans;
};

static uint32_t scaled(uint64_t length, double scale) {
  uint32_t result = (uint32_t)(length * scale + 0.5);
  return result == 0 ? 1 : result;
}

/// True if an image must be turned or mirrored.
static bool is_turned(int orientation) { return orientation >= 2 && orientation <= 8; }

/// True if its width becomes its height.
static bool turns(int orientation) { return orientation >= 5; }

image_status image_begin(decoded_image *result, uint32_t width, uint32_t height, int orientation, image_box box) {
  if (width == 0 || height == 0) return image_fails(result, IMAGE_CORRUPT, "The image has no pixels.");
  result->source_width = turns(orientation) ? height : width;
  result->source_height = turns(orientation) ? width : height;
  if (width > IMAGE_LONGEST_SIDE || height > IMAGE_LONGEST_SIDE
      || (uint64_t)width * height > IMAGE_MOST_PIXELS) {
    return IMAGE_TOO_LARGE;
  }
  double scale = 1;
  if (box.width != 0 && box.width < result->source_width * scale) scale = (double)box.width / result->source_width;
  if (box.height != 0 && box.height < result->source_height * scale) scale = (double)box.height / result->source_height;
  result->width = scaled(result->source_width, scale);
  result->height = scaled(result->source_height, scale);
  const size_t size = (size_t)result->width * result->height * 4;
  // Release memory that was kept for earlier images, because a large image needs all of it. Some decoders hold the
  // whole source, too.
  if (size > IMAGE_KEPT_BYTES || (uint64_t)width * height * 4 > IMAGE_KEPT_BYTES) malloc_trim(0);
  result->rgba = image_pixels(size, !is_turned(orientation));
  return result->rgba == NULL ? IMAGE_NO_MEMORY : IMAGE_OK;
}

void image_unturned(const decoded_image *result, int orientation, uint32_t *width, uint32_t *height) {
  *width = turns(orientation) ? result->height : result->width;
  *height = turns(orientation) ? result->width : result->height;
}

image_scaler *image_scaler_create(
  decoded_image *result, uint32_t width, uint32_t height, int orientation, bool opaque
) {
  image_scaler *scaler = calloc(1, sizeof *scaler);
  if (scaler == NULL) return NULL;
  scaler->result = result;
  scaler->orientation = orientation;
  scaler->source_width = width;
  scaler->source_height = height;
  scaler->opaque = opaque;
  image_unturned(result, orientation, &scaler->width, &scaler->height);
  result->opaque = true;
  if (scaler->width == width && scaler->height == height) return scaler;
  scaler->sums = malloc(width * sizeof(quad));
  scaler->spans = malloc(scaler->width * sizeof(struct span));
  if (scaler->sums == NULL || scaler->spans == NULL) {
    image_scaler_free(scaler);
    return NULL;
  }
  const float ratio = (float)width / scaler->width;
  for (uint32_t x = 0; x < scaler->width; x++) {
    const float start = x * ratio;
    float end = start + ratio;
    if (x + 1 == scaler->width || end > width) end = width;
    struct span *span = &scaler->spans[x];
    span->first = (uint32_t)start;
    span->last = (uint32_t)end;
    span->head = (span->last > span->first ? span->first + 1 : end) - start;
    span->tail = span->last > span->first ? end - span->last : 0;
    // If the last pixel has no share, omit it: it may be past the end of the row.
    if (span->tail <= 0 && span->last > span->first) span->last--, span->tail = span->last > span->first ? 1 : 0;
  }
  return scaler;
}

/// True if every pixel of a row is opaque.
static bool is_opaque(const uint8_t *row, uint32_t width) {
  uint8_t all = 255;
  for (uint32_t x = 0; x < width; x++) all &= row[(size_t)x * 4 + 3];
  return all == 255;
}

/// Adds a row to the sums, or sets the sums to the row. `part` is the share of the row.
WIDE static void add_opaque(float *restrict sums, const uint8_t *restrict row, size_t count, float part, bool begins) {
  if (begins) {
    for (size_t i = 0; i < count; i++) sums[i] = part * row[i];
  } else {
    for (size_t i = 0; i < count; i++) sums[i] += part * row[i];
  }
}

/// Does the same as `add_opaque`, with each pixel multiplied by its alpha.
static void add_weighed(quad *restrict sums, const uint8_t *restrict row, size_t count, float part, bool begins) {
  for (size_t x = 0; x < count; x++, row += 4) {
    bytes pixel;
    memcpy(&pixel, row, sizeof pixel);
    const float light = part * row[3];
    const quad value = (quad){light, light, light, part} * __builtin_convertvector(pixel, quad);
    sums[x] = begins ? value : sums[x] + value;
  }
}

static void add(image_scaler *scaler, const uint8_t *row, float part) {
  const bool begins = !scaler->has_sums;
  if (scaler->opaque) add_opaque((float *)scaler->sums, row, (size_t)scaler->source_width * 4, part, begins);
  else add_weighed(scaler->sums, row, scaler->source_width, part, begins);
  scaler->has_sums = true;
}

static uint8_t level(float value) { return value >= 255 ? 255 : value <= 0 ? 0 : (uint8_t)(value + 0.5f); }

/// Averages the sums into one target row, and starts the next.
static void finish_row(image_scaler *scaler) {
  const float ratio = (float)scaler->source_width / scaler->width;
  const float part = 1 / (ratio * ((float)scaler->source_height / scaler->height));
  const quad *sums = scaler->sums;
  uint8_t *target = scaler->result->rgba + (size_t)scaler->target * scaler->width * 4;
  for (uint32_t x = 0; x < scaler->width; x++, target += 4) {
    const struct span span = scaler->spans[x];
    quad total = sums[span.first] * span.head;
    for (uint32_t from = span.first + 1; from < span.last; from++) total += sums[from];
    if (span.last > span.first) total += sums[span.last] * span.tail;
    if (scaler->opaque) {
      // The average of bytes is at most 255; the rounding error is far less than the 0.5 that is added here.
      const bytes pixel = __builtin_convertvector(total * part + 0.5f, bytes);
      memcpy(target, &pixel, sizeof pixel);
      target[3] = 255;
      continue;
    }
    const float whole = total[3] > 0 ? 1 / total[3] : 0;
    for (int i = 0; i < 3; i++) target[i] = level(total[i] * whole);
    target[3] = level(total[3] * part);
  }
  scaler->target++;
  scaler->has_sums = false;
}

uint8_t *image_scaler_place(image_scaler *scaler) {
  if (scaler->sums != NULL || scaler->row >= scaler->source_height) return NULL;
  return scaler->result->rgba + (size_t)scaler->row * scaler->width * 4;
}

void image_scaler_row(image_scaler *scaler, const uint8_t *row) {
  if (scaler->row >= scaler->source_height) return;
  if (!scaler->opaque && scaler->result->opaque && !is_opaque(row, scaler->source_width)) scaler->result->opaque = false;
  uint8_t *place = image_scaler_place(scaler);
  scaler->row++;
  if (scaler->sums == NULL) {
    if (place != row) memcpy(place, row, (size_t)scaler->width * 4);
    return;
  }
  // Integers, so that rounding errors don't add up: a source row has the height `height`, and a target row has the
  // height `source_height`.
  const uint64_t end = (uint64_t)scaler->row * scaler->height;
  for (uint64_t start = end - scaler->height; start < end;) {
    const uint64_t edge = (uint64_t)(scaler->target + 1) * scaler->source_height, next = edge < end ? edge : end;
    add(scaler, row, (float)(next - start) / scaler->height);
    if (next == edge) finish_row(scaler);
    start = next;
  }
}

/// The position, in the image that isn't turned yet, of a pixel of the upright image.
static size_t unturned(int orientation, uint32_t x, uint32_t y, uint32_t width, uint32_t height) {
  const uint32_t right = width - 1, bottom = height - 1;
  switch (orientation) {
    case 2: return (size_t)y * width + (right - x);
    case 3: return (size_t)(bottom - y) * width + (right - x);
    case 4: return (size_t)(bottom - y) * width + x;
    case 5: return (size_t)x * width + y;
    case 6: return (size_t)(bottom - x) * width + y;
    case 7: return (size_t)(bottom - x) * width + (right - y);
    case 8: return (size_t)x * width + (right - y);
    default: return (size_t)y * width + x;
  }
}

bool image_scaler_finish(image_scaler *scaler) {
  if (!is_turned(scaler->orientation)) return true;
  decoded_image *result = scaler->result;
  const size_t pixels = (size_t)result->width * result->height;
  uint32_t *upright = (uint32_t *)(void *)image_pixels(pixels * 4, true);
  if (upright == NULL) return false;
  const uint32_t *from = (const uint32_t *)(const void *)result->rgba;
  for (uint32_t y = 0; y < result->height; y++) {
    for (uint32_t x = 0; x < result->width; x++) {
      upright[(size_t)y * result->width + x] = from[unturned(scaler->orientation, x, y, scaler->width, scaler->height)];
    }
  }
  image_free_pixels(result->rgba);
  result->rgba = (uint8_t *)upright;
  return true;
}

void image_scaler_free(image_scaler *scaler) {
  if (scaler == NULL) return;
  free(scaler->sums);
  free(scaler->spans);
  free(scaler);
}
