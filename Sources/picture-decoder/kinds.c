// Recognizes pictures by their first bytes, whatever they are called.
#include "picture.h"

#include <stdio.h>
#include <string.h>

picture_status picture_fails(picture *result, picture_status status, const char *reason) {
  snprintf(result->reason, sizeof result->reason, "%s", reason);
  return status;
}

static bool begins(picture_bytes bytes, size_t offset, const char *magic, size_t length) {
  return bytes.length >= offset + length && memcmp(bytes.bytes + offset, magic, length) == 0;
}
#define BEGINS(offset, magic) begins(bytes, offset, magic, sizeof magic - 1)

/// The name of a kind that is recognized and not decoded, or null.
static const char *foreign(picture_bytes bytes) {
  if (BEGINS(4, "ftypavif") || BEGINS(4, "ftypavis")) return "AVIF";
  if (BEGINS(4, "ftyphei") || BEGINS(4, "ftypmif1") || BEGINS(4, "ftyphev")) return "HEIF";
  if (BEGINS(0, "\xFF\x0A") || BEGINS(0, "\0\0\0\x0CJXL ")) return "JPEG XL";
  if (BEGINS(0, "\0\0\0\x0CjP  ")) return "JPEG 2000";
  if (BEGINS(0, "BM")) return "BMP";
  if (BEGINS(0, "II*\0") || BEGINS(0, "MM\0*")) return "TIFF";
  if (BEGINS(0, "\0\0\1\0")) return "ICO";
  return NULL;
}

/// The name of a text that is no picture of pixels, or null.
static const char *text(picture_bytes bytes) {
  size_t start = BEGINS(0, "\xEF\xBB\xBF") ? 3 : 0;
  while (start < bytes.length && strchr(" \t\r\n", bytes.bytes[start]) != NULL && bytes.bytes[start] != 0) start++;
  if (start >= bytes.length || bytes.bytes[start] != '<') return NULL;
  const size_t length = bytes.length - start < 1024 ? bytes.length - start : 1024;
  for (size_t i = start; i + 4 <= start + length; i++) {
    if (memcmp(bytes.bytes + i, "<svg", 4) == 0) return "SVG";
  }
  return "page";
}

picture_status picture_decode(picture_bytes bytes, picture_box box, picture *result) {
  if (bytes.length == 0) return PICTURE_EMPTY;
  if (BEGINS(0, "\xFF\xD8\xFF")) return picture_decode_jpeg(bytes, box, result);
  if (BEGINS(0, "\x89PNG\r\n\x1A\n")) return picture_decode_png(bytes, box, result);
  if (BEGINS(0, "RIFF") && BEGINS(8, "WEBP")) return picture_decode_webp(bytes, box, result);
  if (BEGINS(0, "GIF87a") || BEGINS(0, "GIF89a")) return picture_decode_gif(bytes, box, result);
  const char *name = foreign(bytes);
  if (name == NULL && (name = text(bytes)) != NULL && strcmp(name, "page") == 0) {
    return picture_fails(result, PICTURE_NONE, "The server sent a web page.");
  }
  if (name == NULL) return PICTURE_NONE;
  snprintf(result->reason, sizeof result->reason, "%s images are not shown.", name);
  return PICTURE_UNSUPPORTED;
}

int picture_orientation(const uint8_t *exif, size_t length) {
  if (length >= 6 && memcmp(exif, "Exif\0\0", 6) == 0) {
    exif += 6;
    length -= 6;
  }
  if (length < 8) return 1;
  const bool little = exif[0] == 'I' && exif[1] == 'I';
  if (!little && !(exif[0] == 'M' && exif[1] == 'M')) return 1;
#define SHORT(at) (little ? exif[at] | exif[(at) + 1] << 8 : exif[at] << 8 | exif[(at) + 1])
#define LONG(at) ((size_t)(uint32_t)(little ? SHORT(at) | (uint32_t)SHORT((at) + 2) << 16 : (uint32_t)SHORT(at) << 16 | SHORT((at) + 2)))
  const size_t folder = LONG(4);
  if (folder > length - 2 || length < 2) return 1;
  const size_t entries = (size_t)SHORT(folder);
  for (size_t i = 0; i < entries && folder + 2 + (i + 1) * 12 <= length; i++) {
    const size_t entry = folder + 2 + i * 12;
    if (SHORT(entry) != 0x0112) continue;
    const int value = SHORT(entry + 8);
    return value >= 1 && value <= 8 ? value : 1;
  }
  return 1;
#undef SHORT
#undef LONG
}
