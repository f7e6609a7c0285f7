// Keeps the color profile of an image, and finds the color that a page may show until the image is loaded.
#include "image.h"

#include <stdlib.h>
#include <string.h>

void image_keep_profile(decoded_image *result, const uint8_t *profile, size_t length) {
  // The header has 128 bytes: at 16, the color space; at 36, the signature of every profile (ICC.1, section 7.2).
  if (profile == NULL || length < 128 || length > IMAGE_LONGEST_PROFILE || result->profile != NULL) return;
  if (memcmp(profile + 16, "RGB ", 4) != 0 || memcmp(profile + 36, "acsp", 4) != 0) return;
  result->profile = malloc(length);
  if (result->profile == NULL) return;
  memcpy(result->profile, profile, length);
  result->profile_length = length;
}

/// The number of levels per channel: few enough that similar shades of a sky or a wall count as the same color.
enum { shades = 8, bins = shades * shades * shades };

uint32_t image_color(const decoded_image *source) {
  struct { uint32_t count, red, green, blue; } sums[bins] = {0};
  const size_t pixels = (size_t)source->width * source->height;
  // 4,096 pixels give the same result as all of them. With an odd step, they aren't all in a few columns.
  const size_t step = pixels / 4096 | 1;
  size_t best = 0;
  for (size_t place = 0; place < pixels; place += step) {
    const uint8_t *pixel = source->rgba + place * 4;
    if (pixel[3] < 128) continue;
    const size_t bin = ((size_t)(pixel[0] >> 5) * shades + (pixel[1] >> 5)) * shades + (pixel[2] >> 5);
    sums[bin].count++;
    sums[bin].red += pixel[0];
    sums[bin].green += pixel[1];
    sums[bin].blue += pixel[2];
    if (sums[bin].count > sums[best].count) best = bin;
  }
  const uint32_t count = sums[best].count;
  if (count == 0) return 0x808080;
  return (sums[best].red / count) << 16 | (sums[best].green / count) << 8 | sums[best].blue / count;
}
