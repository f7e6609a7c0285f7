// Decodes the first frame of a GIF (GIF89a, appendix F). No library is used, because the common one decodes all frames
// before it returns the first.
#include "image.h"

#include <stdlib.h>
#include <string.h>

/// Reads bytes in order. At the end, the reader stays there and sets `ended`.
struct reader {
  const uint8_t *bytes;
  size_t length, at;
  bool ended;
};

static unsigned byte(struct reader *reader) {
  if (reader->at < reader->length) return reader->bytes[reader->at++];
  reader->ended = true;
  return 0;
}

static unsigned word(struct reader *reader) {
  const unsigned low = byte(reader);
  return low | byte(reader) << 8;
}

static const uint8_t *table(struct reader *reader, unsigned flags) {
  if (!(flags & 0x80)) return NULL;
  const size_t length = 3u << ((flags & 7) + 1);
  const uint8_t *colors = reader->bytes + reader->at;
  if (reader->length - reader->at < length) {
    reader->ended = true;
    return NULL;
  }
  reader->at += length;
  return colors;
}

static void skip_blocks(struct reader *reader) {
  for (unsigned length; (length = byte(reader)) != 0 && !reader->ended;) {
    if (reader->length - reader->at < length) reader->ended = true;
    else reader->at += length;
  }
}

/// Reads codes of increasing length from blocks of up to 255 bytes.
struct codes {
  struct reader *reader;
  unsigned left_in_block, bits, held;
};

static int next_code(struct codes *codes, unsigned size) {
  while (codes->bits < size) {
    if (codes->left_in_block == 0 && (codes->left_in_block = byte(codes->reader)) == 0) return -1;
    codes->left_in_block--;
    codes->held |= byte(codes->reader) << codes->bits;
    codes->bits += 8;
    if (codes->reader->ended) return -1;
  }
  const int code = (int)(codes->held & ((1u << size) - 1));
  codes->held >>= size;
  codes->bits -= size;
  return code;
}

struct dictionary {
  uint16_t before[4096];
  uint8_t last[4096];
  uint8_t stack[4096];
};

/// Expands codes to at most `count` color indices, and returns their number.
static size_t expand(struct codes *codes, unsigned root, uint8_t *colors, size_t count, struct dictionary *words) {
  const unsigned clear = 1u << root, end = clear + 1;
  unsigned size = root + 1, next = clear + 2;
  int previous = -1;
  uint8_t first = 0;
  size_t at = 0;
  for (unsigned i = 0; i < clear; i++) words->last[i] = (uint8_t)i;
  while (at < count) {
    const int code = next_code(codes, size);
    if (code < 0 || (unsigned)code == end) break;
    if ((unsigned)code == clear) {
      size = root + 1;
      next = clear + 2;
      previous = -1;
      continue;
    }
    if ((unsigned)code > next || ((unsigned)code >= next && previous < 0) || (previous < 0 && (unsigned)code >= clear)) break;
    size_t height = 0;
    unsigned word = (unsigned)code;
    if (word == next) {
      // The code refers to the word that it is about to define: the previous word and its first color.
      words->stack[height++] = first;
      word = (unsigned)previous;
    }
    while (word >= clear && height < sizeof words->stack) {
      words->stack[height++] = words->last[word];
      word = words->before[word];
    }
    first = (uint8_t)word;
    if (height < sizeof words->stack) words->stack[height++] = first;
    if (previous >= 0 && next < 4096) {
      words->before[next] = (uint16_t)previous;
      words->last[next] = first;
      next++;
      if (next == 1u << size && size < 12) size++;
    }
    previous = code;
    while (height > 0 && at < count) colors[at++] = words->stack[--height];
  }
  return at;
}

struct frame {
  uint32_t left, top, width, height;
  const uint8_t *colors;
  unsigned color_count;
  int transparent;
  bool interlaced;
};

/// The image row of the row at `index` in an interlaced file.
static uint32_t interlaced_row(uint32_t index, uint32_t height) {
  static const uint32_t starts[] = {0, 4, 2, 1}, steps[] = {8, 8, 4, 2};
  for (int pass = 0; pass < 4; pass++) {
    const uint32_t rows = height > starts[pass] ? (height - starts[pass] + steps[pass] - 1) / steps[pass] : 0;
    if (index < rows) return starts[pass] + index * steps[pass];
    index -= rows;
  }
  return 0;
}

static void draw(const struct frame *frame, const uint8_t *numbers, uint8_t *canvas, uint32_t width) {
  for (uint32_t y = 0; y < frame->height; y++) {
    const uint32_t row = frame->interlaced ? interlaced_row(y, frame->height) : y;
    uint8_t *pixel = canvas + ((size_t)(frame->top + row) * width + frame->left) * 4;
    for (uint32_t x = 0; x < frame->width; x++, pixel += 4) {
      const unsigned number = numbers[(size_t)y * frame->width + x];
      if ((int)number == frame->transparent || number >= frame->color_count) continue;
      memcpy(pixel, frame->colors + number * 3, 3);
      pixel[3] = 255;
    }
  }
}

static image_status decode_frame(
  struct reader *reader, const struct frame *frame, uint32_t width, uint32_t height, image_box box,
  decoded_image *result
) {
  image_status status = image_begin(result, width, height, 1, box);
  if (status != IMAGE_OK) return status;
  const unsigned root = byte(reader);
  if (reader->ended) return IMAGE_CUT_OFF;
  if (root < 1 || root > 8) return image_fails(result, IMAGE_CORRUPT, "The GIF's code length is invalid.");
  const size_t count = (size_t)frame->width * frame->height;
  uint8_t *numbers = malloc(count), *canvas = calloc((size_t)width * height, 4);
  struct dictionary *words = malloc(sizeof *words);
  image_scaler *scaler = image_scaler_create(result, width, height, 1, false);
  status = IMAGE_NO_MEMORY;
  if (numbers != NULL && canvas != NULL && words != NULL && scaler != NULL) {
    struct codes codes = {.reader = reader};
    if (expand(&codes, root, numbers, count, words) == count) {
      draw(frame, numbers, canvas, width);
      for (uint32_t y = 0; y < height; y++) image_scaler_row(scaler, canvas + (size_t)y * width * 4);
      status = image_scaler_finish(scaler) ? IMAGE_OK : IMAGE_NO_MEMORY;
    } else {
      status = reader->ended ? IMAGE_CUT_OFF : image_fails(result, IMAGE_CORRUPT, "The GIF's data is damaged.");
    }
  }
  free(numbers);
  free(canvas);
  free(words);
  image_scaler_free(scaler);
  return status;
}

image_status image_decode_gif(image_bytes bytes, image_box box, decoded_image *result) {
  struct reader reader = {bytes.bytes, bytes.length, 6, false};
  const uint32_t screen_width = word(&reader), screen_height = word(&reader);
  const unsigned flags = byte(&reader);
  (void)word(&reader);
  const uint8_t *common = table(&reader, flags);
  struct frame frame = {.transparent = -1};
  while (!reader.ended) {
    const unsigned block = byte(&reader);
    if (block == 0x3B) return image_fails(result, IMAGE_CORRUPT, "The GIF has no image.");
    if (block == 0x21) {
      if (byte(&reader) == 0xF9 && byte(&reader) == 4) {
        const bool transparent = byte(&reader) & 1;
        (void)word(&reader);
        const unsigned number = byte(&reader);
        if (transparent) frame.transparent = (int)number;
      }
      skip_blocks(&reader);
      continue;
    }
    if (block != 0x2C) {
      if (reader.ended) break;
      return image_fails(result, IMAGE_CORRUPT, "The GIF has a block of an unknown type.");
    }
    frame.left = word(&reader);
    frame.top = word(&reader);
    frame.width = word(&reader);
    frame.height = word(&reader);
    const unsigned local = byte(&reader);
    const uint8_t *own = table(&reader, local);
    if (reader.ended) break;
    frame.interlaced = local & 0x40;
    frame.colors = own != NULL ? own : common;
    frame.color_count = frame.colors == NULL ? 0 : 2u << ((own != NULL ? local : flags) & 7);
    if (frame.width == 0 || frame.height == 0) return image_fails(result, IMAGE_CORRUPT, "The image has no pixels.");
    const uint32_t right = frame.left + frame.width, bottom = frame.top + frame.height;
    const uint32_t width = right > screen_width ? right : screen_width, height = bottom > screen_height ? bottom : screen_height;
    return decode_frame(&reader, &frame, width, height, box, result);
  }
  return IMAGE_CUT_OFF;
}
