// The steps of decoding an image: from bytes to a format, to pixels of the requested size, and to bytes again.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/// The maximum number of pixels in an image (40 megapixels), and along one side (16,384).
#define PICTURE_MOST_PIXELS 40000000u
#define PICTURE_LONGEST_SIDE 16384u
/// The maximum number of bytes of an encoded image: 32 MiB.
#define PICTURE_MOST_BYTES (32u << 20)
/// Freed memory of up to this size, 16 MiB, is kept for the next image. For a larger image, all of it is released
/// first.
#define PICTURE_KEPT_BYTES (16 << 20)
/// The maximum number of scans of a progressive JPEG: each visits all pixels, and a few bytes can declare thousands.
#define PICTURE_MOST_SCANS 100

typedef enum {
  PICTURE_OK = 0,
  PICTURE_EMPTY = 1,
  /// The bytes don't begin like an image.
  PICTURE_NONE = 2,
  PICTURE_CUT_OFF = 3,
  /// The image has more pixels, bytes or scans than the limits above.
  PICTURE_TOO_LARGE = 4,
  /// The image's format isn't supported.
  PICTURE_UNSUPPORTED = 5,
  PICTURE_CORRUPT = 6,
  /// The process's memory limit is too low for the image.
  PICTURE_NO_MEMORY = 7,
} picture_status;

/// The form in which pixels are encoded.
typedef enum {
  /// Four bytes per pixel: red, green, blue and alpha, not premultiplied.
  PICTURE_RGBA = 0,
  /// JPEG for an opaque image, PNG otherwise.
  PICTURE_WEB = 1,
  PICTURE_PNG = 2,
} picture_form;

typedef struct {
  const uint8_t *bytes;
  size_t length;
} picture_bytes;

/// The maximum size. An image keeps its proportions and is never enlarged.
typedef struct {
  uint32_t width, height;
} picture_box;

typedef struct {
  uint32_t width, height;
  uint32_t source_width, source_height;
  uint8_t *rgba;
  bool opaque;
  /// The reason as a sentence, if the status isn't enough.
  char reason[160];
} picture;

// MARK: Scaling (scale.c)

/// Averages the rows of an image into those of a smaller one as they arrive, so that a large image is never in memory
/// as a whole.
typedef struct picture_scaler picture_scaler;

/// Refuses sizes beyond the limits. Otherwise, sets the sizes of `result` for a source of `width` and `height` with the
/// given EXIF orientation (1 to 8), and allocates its pixels.
picture_status picture_begin(picture *result, uint32_t width, uint32_t height, int orientation, picture_box box);

/// The size of the result before it is turned upright, for decoders that can scale.
void picture_unturned(const picture *result, int orientation, uint32_t *width, uint32_t *height);

/// Scales `height` rows of `width` pixels into the pixels of `result`, which is not turned upright yet. `opaque` is
/// true if no pixel is transparent.
picture_scaler *picture_scaler_create(picture *result, uint32_t width, uint32_t height, int orientation, bool opaque);
/// The memory to decode the next row into, so that it isn't copied; null if the image is being scaled.
uint8_t *picture_scaler_place(picture_scaler *scaler);
/// Adds the next row: `width` pixels of RGBA.
void picture_scaler_row(picture_scaler *scaler, const uint8_t *row);
/// Turns the image upright. Returns false if there isn't enough memory.
bool picture_scaler_finish(picture_scaler *scaler);
void picture_scaler_free(picture_scaler *scaler);

// MARK: Kinds

picture_status picture_decode(picture_bytes bytes, picture_box box, picture *result);
picture_status picture_decode_jpeg(picture_bytes bytes, picture_box box, picture *result);
picture_status picture_decode_png(picture_bytes bytes, picture_box box, picture *result);
picture_status picture_decode_webp(picture_bytes bytes, picture_box box, picture *result);
/// Decodes the first frame.
picture_status picture_decode_avif(picture_bytes bytes, picture_box box, picture *result);
/// Decodes the first frame.
picture_status picture_decode_gif(picture_bytes bytes, picture_box box, picture *result);

/// The orientation in EXIF data, with or without its "Exif" prefix: 1 to 8; 1 if there is none.
int picture_orientation(const uint8_t *exif, size_t length);

/// Stores the reason; for use as `return picture_fails(result, PICTURE_CORRUPT, "…")`.
picture_status picture_fails(picture *result, picture_status status, const char *reason);

// MARK: Color (color.c)

/// The most frequent color of an image, as 0xRRGGBB; gray if the whole image is transparent.
uint32_t picture_color(const picture *source);

// MARK: Writing (encode.c)

/// Allocates the encoded image; for PICTURE_RGBA, returns the pixels themselves. Returns null if there isn't enough
/// memory.
uint8_t *picture_encode(const picture *source, picture_form *form, size_t *length);

// MARK: The process (sandbox.c)

/// Permanently gives up every privilege that decoding doesn't need. Returns false if the system refuses.
bool sandbox_enter(void);
/// Starts the timer for an image's processor time; 0 stops it. When the time is up, the process ends.
void sandbox_allow_seconds(unsigned seconds);
