// A picture's way through the decoder: bytes, a kind, pixels of the wanted size, bytes again.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/// The most pixels a picture may have, and the most a side: 40 megapixels, 16,384.
#define PICTURE_MOST_PIXELS 40000000u
#define PICTURE_LONGEST_SIDE 16384u
/// The most bytes of a picture as it came: 32 MiB.
#define PICTURE_MOST_BYTES (32u << 20)
/// Memory of up to this size, 16 MiB, is kept for the next picture; a larger one has all that the process may have.
#define PICTURE_KEPT_BYTES (16 << 20)
/// The most scans of a progressive JPEG: each goes over all its pixels, and a few bytes can ask for thousands.
#define PICTURE_MOST_SCANS 100

typedef enum {
  PICTURE_OK = 0,
  PICTURE_EMPTY = 1,
  /// Nothing that begins as a picture does.
  PICTURE_NONE = 2,
  PICTURE_CUT_OFF = 3,
  /// More pixels, bytes or scans than the limits above.
  PICTURE_TOO_LARGE = 4,
  /// A kind of picture that is not decoded here.
  PICTURE_UNSUPPORTED = 5,
  PICTURE_CORRUPT = 6,
  /// The memory that the process may have does not suffice.
  PICTURE_NO_MEMORY = 7,
} picture_status;

/// What is written for the pixels.
typedef enum {
  /// Four bytes a pixel: red, green, blue and opacity, not multiplied.
  PICTURE_RGBA = 0,
  /// JPEG for an opaque picture, else PNG.
  PICTURE_WEB = 1,
  PICTURE_PNG = 2,
} picture_form;

typedef struct {
  const uint8_t *bytes;
  size_t length;
} picture_bytes;

/// The largest size wanted. A picture keeps its proportions and is never enlarged.
typedef struct {
  uint32_t width, height;
} picture_box;

typedef struct {
  uint32_t width, height;
  uint32_t source_width, source_height;
  uint8_t *rgba;
  bool opaque;
  /// In a sentence, where the status alone does not say it.
  char reason[160];
} picture;

// MARK: Scaling (scale.c)

/// Averages rows of a picture into those of a smaller one as they come, so that no large picture is held whole.
typedef struct picture_scaler picture_scaler;

/// Refuses sizes past the limits; else sets the picture's sizes for a source of `width` and `height` that is turned as
/// `orientation` (EXIF, 1 to 8) says, and makes room for its pixels.
picture_status picture_begin(picture *result, uint32_t width, uint32_t height, int orientation, picture_box box);

/// The size before it is turned: what the decoder is asked for when it can scale by itself.
void picture_unturned(const picture *result, int orientation, uint32_t *width, uint32_t *height);

/// For rows of `width`, `height` of them, into the pixels of `result`, which have their size before it is turned; `opaque` when
/// no pixel of them lets anything through.
picture_scaler *picture_scaler_create(picture *result, uint32_t width, uint32_t height, int orientation, bool opaque);
/// Where the next row may be decoded to, so that it need not be copied; null when it is to be made smaller.
uint8_t *picture_scaler_place(picture_scaler *scaler);
/// Takes the next row, `width` pixels of RGBA.
void picture_scaler_row(picture_scaler *scaler, const uint8_t *row);
/// Turns the picture upright. False when there is no memory for it.
bool picture_scaler_finish(picture_scaler *scaler);
void picture_scaler_free(picture_scaler *scaler);

// MARK: Kinds

picture_status picture_decode(picture_bytes bytes, picture_box box, picture *result);
picture_status picture_decode_jpeg(picture_bytes bytes, picture_box box, picture *result);
picture_status picture_decode_png(picture_bytes bytes, picture_box box, picture *result);
picture_status picture_decode_webp(picture_bytes bytes, picture_box box, picture *result);
/// The first frame.
picture_status picture_decode_avif(picture_bytes bytes, picture_box box, picture *result);
/// The first frame.
picture_status picture_decode_gif(picture_bytes bytes, picture_box box, picture *result);

/// The orientation in EXIF data, with or without its "Exif" prefix: 1 to 8, 1 when there is none.
int picture_orientation(const uint8_t *exif, size_t length);

/// Writes why; for use as `return picture_fails(result, PICTURE_CORRUPT, "…")`.
picture_status picture_fails(picture *result, picture_status status, const char *reason);

// MARK: Color (color.c)

/// The color that most of a picture has, as 0xRRGGBB; gray when nothing of it is seen.
uint32_t picture_color(const picture *source);

// MARK: Writing (encode.c)

/// Allocates what is written for the pixels, unless it is the pixels themselves; null when there is no memory.
uint8_t *picture_encode(const picture *source, picture_form *form, size_t *length);

// MARK: The process (sandbox.c)

/// Gives up, for good, every right that decoding does not need. False when the system refuses to take one.
bool sandbox_enter(void);
/// Begins the time that one picture may take; 0 ends it. The process dies when it is over.
void sandbox_allow_seconds(unsigned seconds);
