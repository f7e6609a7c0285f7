// The steps of decoding an image: from bytes to a format, to pixels of the requested size, and to bytes again.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/// The maximum number of pixels in an image (40 megapixels), and along one side (16,384).
#define IMAGE_MOST_PIXELS 40000000u
#define IMAGE_LONGEST_SIDE 16384u
/// The maximum number of bytes of an encoded image: 32 MiB.
#define IMAGE_MOST_BYTES (32u << 20)
/// Freed memory of up to this size, 16 MiB, is kept for the next image. For a larger image, all of it is released
/// first.
#define IMAGE_KEPT_BYTES (16 << 20)
/// The maximum number of bytes of a color profile that is kept: 16 KiB. Profiles of cameras and screens are smaller.
#define IMAGE_LONGEST_PROFILE (16u << 10)
/// The maximum number of scans of a progressive JPEG: each visits all pixels, and a few bytes can declare thousands.
#define IMAGE_MOST_SCANS 100

typedef enum {
  IMAGE_OK = 0,
  IMAGE_EMPTY = 1,
  /// The bytes don't begin like an image.
  IMAGE_NONE = 2,
  IMAGE_CUT_OFF = 3,
  /// The image has more pixels, bytes or scans than the limits above.
  IMAGE_TOO_LARGE = 4,
  /// The image's format isn't supported.
  IMAGE_UNSUPPORTED = 5,
  IMAGE_CORRUPT = 6,
  /// The process's memory limit is too low for the image.
  IMAGE_NO_MEMORY = 7,
} image_status;

/// The form in which pixels are encoded.
typedef enum {
  /// Four bytes per pixel: red, green, blue and alpha, not premultiplied.
  IMAGE_RGBA = 0,
  /// JPEG for an opaque image, PNG otherwise.
  IMAGE_WEB = 1,
  IMAGE_PNG = 2,
  /// IMAGE_RGBA in the shared memory; only in replies.
  IMAGE_SHARED_RGBA = 3,
} image_form;

typedef struct {
  const uint8_t *bytes;
  size_t length;
} image_bytes;

/// The maximum size. An image keeps its proportions and is never enlarged.
typedef struct {
  uint32_t width, height;
} image_box;

typedef struct {
  uint32_t width, height;
  uint32_t source_width, source_height;
  uint8_t *rgba;
  bool opaque;
  /// The color profile (ICC.1) of the pixels; null if there is none.
  uint8_t *profile;
  size_t profile_length;
  /// The reason as a sentence, if the status isn't enough.
  char reason[160];
} decoded_image;

// MARK: Memory (memory.c)

/// Maps the memory that the parent shares, if it does. Call this before the sandbox closes its descriptor.
void image_share_memory(void);
/// Allocates pixels. Those of the final image are in the shared memory, if there is any: only one image is decoded at a time.
/// Returns null if there isn't enough memory.
uint8_t *image_pixels(size_t size, bool is_final);
void image_free_pixels(uint8_t *pixels);
/// The size of the shared memory; 0 if there is none.
size_t image_shared_length(void);
bool image_is_shared(const uint8_t *pixels);

// MARK: Scaling (scale.c)

/// Averages the rows of an image into those of a smaller one as they arrive, so that a large image is never in memory
/// as a whole.
typedef struct image_scaler image_scaler;

/// Refuses sizes beyond the limits. Otherwise, sets the sizes of `result` for a source of `width` and `height` with the
/// given EXIF orientation (1 to 8), and allocates its pixels.
image_status image_begin(decoded_image *result, uint32_t width, uint32_t height, int orientation, image_box box);

/// The size of the result before it is turned upright, for decoders that can scale.
void image_unturned(const decoded_image *result, int orientation, uint32_t *width, uint32_t *height);

/// Scales `height` rows of `width` pixels into the pixels of `result`, which is not turned upright yet. `opaque` is
/// true if no pixel is transparent.
image_scaler *image_scaler_create(
  decoded_image *result, uint32_t width, uint32_t height, int orientation, bool opaque
);
/// The memory to decode the next row into, so that it isn't copied; null if the image is being scaled.
uint8_t *image_scaler_place(image_scaler *scaler);
/// Adds the next row: `width` pixels of RGBA.
void image_scaler_row(image_scaler *scaler, const uint8_t *row);
/// Turns the image upright. Returns false if there isn't enough memory.
bool image_scaler_finish(image_scaler *scaler);
void image_scaler_free(image_scaler *scaler);

// MARK: Kinds

image_status image_decode(image_bytes bytes, image_box box, decoded_image *result);
image_status image_decode_jpeg(image_bytes bytes, image_box box, decoded_image *result);
image_status image_decode_png(image_bytes bytes, image_box box, decoded_image *result);
image_status image_decode_webp(image_bytes bytes, image_box box, decoded_image *result);
/// Decodes the first frame.
image_status image_decode_avif(image_bytes bytes, image_box box, decoded_image *result);
/// Decodes the first frame.
image_status image_decode_gif(image_bytes bytes, image_box box, decoded_image *result);

/// The orientation in EXIF data, with or without its "Exif" prefix: 1 to 8; 1 if there is none.
int image_orientation(const uint8_t *exif, size_t length);

/// Stores the reason; for use as `return image_fails(result, IMAGE_CORRUPT, "…")`.
image_status image_fails(decoded_image *result, image_status status, const char *reason);

// MARK: Color (color.c)

/// Copies a color profile into the image, unless it isn't one for RGB or is too large.
void image_keep_profile(decoded_image *result, const uint8_t *profile, size_t length);

/// The most frequent color of an image, as 0xRRGGBB; gray if the whole image is transparent.
uint32_t image_color(const decoded_image *source);

// MARK: Writing (encode.c)

/// Allocates the encoded image; for IMAGE_RGBA, returns the pixels themselves. Returns null if there isn't enough
/// memory.
uint8_t *image_encode(const decoded_image *source, image_form *form, size_t *length);

// MARK: The process (sandbox.c)

/// Permanently gives up every privilege that decoding doesn't need. Returns false if the system refuses.
bool sandbox_enter(void);
/// Starts the timer for an image's processor time; 0 stops it. When the time is up, the process ends.
void sandbox_allow_seconds(unsigned seconds);
