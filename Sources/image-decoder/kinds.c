// Recognizes image formats by their first bytes, regardless of their names and types.
#include "image.h"

#include <stdio.h>
#include <string.h>

image_status image_fails(decoded_image *result, image_status status, const char *reason) {
  snprintf(result->reason, sizeof result->reason, "%s", reason);
  return status;
}

static bool begins(image_bytes bytes, size_t offset, const char *magic, size_t length) {
  return bytes.length >= offset + length && memcmp(bytes.bytes + offset, magic, length) == 0;
}
#define BEGINS(offset, magic) begins(bytes, offset, magic, sizeof magic - 1)

/// An image format: its first bytes, its name, and its decoder, which is null for a format that is recognized but not
/// decoded.
struct kind {
  size_t offset;
  const char *magic;
  size_t length;
  const char *name;
  image_status (*decode)(image_bytes bytes, image_box box, decoded_image *result);
};

#define KIND(offset, magic, name, decode) {offset, magic, sizeof magic - 1, name, decode}

static const struct kind kinds[] = {
  KIND(0, "\xFF\xD8\xFF", "JPEG", image_decode_jpeg),
  KIND(0, "\x89PNG\r\n\x1A\n", "PNG", image_decode_png),
  KIND(8, "WEBP", "WebP", image_decode_webp),
  KIND(0, "GIF87a", "GIF", image_decode_gif),
  KIND(0, "GIF89a", "GIF", image_decode_gif),
  KIND(4, "ftypavif", "AVIF", image_decode_avif),
  KIND(4, "ftypavis", "AVIF", image_decode_avif),
  KIND(4, "ftypheic", "HEIC", NULL),
  KIND(4, "ftypheix", "HEIC", NULL),
  KIND(4, "ftyphevc", "HEIC", NULL),
  KIND(4, "ftyphei", "HEIF", NULL),
  KIND(4, "ftyphev", "HEIF", NULL),
  KIND(0, "\xFF\x0A", "JPEG XL", NULL),
  KIND(0, "\0\0\0\x0CJXL ", "JPEG XL", NULL),
  KIND(0, "\0\0\0\x0CjP  ", "JPEG 2000", NULL),
  KIND(0, "BM", "BMP", NULL),
  KIND(0, "II*\0", "TIFF", NULL),
  KIND(0, "MM\0*", "TIFF", NULL),
  KIND(0, "\0\0\1\0", "ICO", NULL),
};

/// True if the brands of an ISO media file include AVIF, which need not be the first.
static bool is_avif(image_bytes bytes) {
  if (!BEGINS(4, "ftyp")) return false;
  const size_t end = (size_t)bytes.bytes[2] << 8 | bytes.bytes[3];
  if (bytes.bytes[0] != 0 || bytes.bytes[1] != 0) return false;
  for (size_t at = 16; at + 4 <= end && at < 128; at += 4) {
    if (BEGINS(at, "avif") || BEGINS(at, "avis")) return true;
  }
  return false;
}

/// The name of a text format that isn't a pixel image; null if the bytes aren't in such a format.
static const char *text(image_bytes bytes) {
  size_t start = BEGINS(0, "\xEF\xBB\xBF") ? 3 : 0;
  while (start < bytes.length && strchr(" \t\r\n", bytes.bytes[start]) != NULL && bytes.bytes[start] != 0) start++;
  if (start >= bytes.length || bytes.bytes[start] != '<') return NULL;
  const size_t length = bytes.length - start < 1024 ? bytes.length - start : 1024;
  for (size_t i = start; i + 4 <= start + length; i++) {
    if (memcmp(bytes.bytes + i, "<svg", 4) == 0) return "SVG";
  }
  return "page";
}

static image_status unsupported(decoded_image *result, const char *name) {
  snprintf(result->reason, sizeof result->reason, "%s images are not supported.", name);
  return IMAGE_UNSUPPORTED;
}

image_status image_decode(image_bytes bytes, image_box box, decoded_image *result) {
  if (bytes.length == 0) return IMAGE_EMPTY;
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
    const struct kind *kind = &kinds[i];
    if (!begins(bytes, kind->offset, kind->magic, kind->length)) continue;
    if (kind->decode == image_decode_webp && !BEGINS(0, "RIFF")) continue;
    return kind->decode != NULL ? kind->decode(bytes, box, result) : unsupported(result, kind->name);
  }
  if (is_avif(bytes)) return image_decode_avif(bytes, box, result);
  if (BEGINS(4, "ftypmif1") || BEGINS(4, "ftypmsf1")) return unsupported(result, "HEIF");
  const char *name = text(bytes);
  if (name == NULL) return IMAGE_NONE;
  if (strcmp(name, "page") == 0) return image_fails(result, IMAGE_NONE, "The server sent a web page.");
  return unsupported(result, name);
}

int image_orientation(const uint8_t *exif, size_t length) {
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
