// Decodes untrusted images in a process without privileges. It reads requests from standard input and writes replies to
// standard output until the input ends. A hostile image may crash the process or keep it busy. In that case, only that
// image fails, and the parent starts another process.
//
// A request is 20 bytes, "IMG1" and four numbers (32 bits, little endian): the length of the image, the maximum width
// and height (0: any), and the requested form (image_form); then the image. A reply is 36 bytes, "IMG1" and eight
// numbers: the status (image_status), width, height, width and height of the source, the form, the length of the
// body, and the most frequent color; then the body: the image, or the reason as text. If the parent shares memory with
// this process (memory.c), pixels that fit have the form 3 and are at the beginning of that memory; there is no body.
#include "image.h"

#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/// The maximum processor time per image, in seconds.
static const unsigned seconds = 5;

static bool read_all(void *target, size_t length) {
  for (uint8_t *at = target; length > 0;) {
    const ssize_t count = read(STDIN_FILENO, at, length);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return false;
    at += count;
    length -= (size_t)count;
  }
  return true;
}

static bool write_all(const void *source, size_t length) {
  for (const uint8_t *at = source; length > 0;) {
    const ssize_t count = write(STDOUT_FILENO, at, length);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return false;
    at += count;
    length -= (size_t)count;
  }
  return true;
}

static uint32_t number(const uint8_t *at) { return at[0] | at[1] << 8 | at[2] << 16 | (uint32_t)at[3] << 24; }

static void put(uint8_t *at, uint32_t value) {
  for (int i = 0; i < 4; i++) at[i] = (uint8_t)(value >> (8 * i));
}

static bool skip(size_t length) {
  uint8_t waste[4096];
  for (; length > 0; length -= length < sizeof waste ? length : sizeof waste) {
    if (!read_all(waste, length < sizeof waste ? length : sizeof waste)) return false;
  }
  return true;
}

static bool answer(image_status status, const decoded_image *result, image_form form, const void *body, size_t length) {
  const uint32_t numbers[] = {
    status, result->width, result->height, result->source_width, result->source_height, form, (uint32_t)length,
    status == IMAGE_OK ? image_color(result) : 0,
  };
  uint8_t head[36] = "IMG1";
  for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) put(head + 4 + 4 * i, numbers[i]);
  return write_all(head, sizeof head) && (form == IMAGE_SHARED_RGBA || write_all(body, length));
}

/// Replies to one request; returns false if there are no more.
static bool serve(void) {
  uint8_t head[20];
  if (!read_all(head, sizeof head) || memcmp(head, "IMG1", 4) != 0) return false;
  const uint32_t length = number(head + 4);
  const image_box box = {number(head + 8), number(head + 12)};
  image_form form = (image_form)number(head + 16);
  if (form > IMAGE_PNG) return false;
  decoded_image result = {0};
  uint8_t *bytes = length > IMAGE_MOST_BYTES ? NULL : malloc(length == 0 ? 1 : length);
  if (bytes == NULL) {
    if (!skip(length)) return false;
    return answer(length > IMAGE_MOST_BYTES ? IMAGE_TOO_LARGE : IMAGE_NO_MEMORY, &result, form, "", 0);
  }
  bool goes_on = read_all(bytes, length);
  if (goes_on) {
    sandbox_allow_seconds(seconds);
    image_status status = image_decode((image_bytes){bytes, length}, box, &result);
    size_t size = 0;
    uint8_t *body = status == IMAGE_OK ? image_encode(&result, &form, &size) : NULL;
    if (status == IMAGE_OK && body == NULL) status = IMAGE_NO_MEMORY;
    sandbox_allow_seconds(0);
    if (form == IMAGE_RGBA && image_is_shared(body)) form = IMAGE_SHARED_RGBA;
    if (status == IMAGE_OK) goes_on = answer(status, &result, form, body, size);
    else goes_on = answer(status, &result, form, result.reason, strlen(result.reason));
    if (body != result.rgba) free(body);
    image_free_pixels(result.rgba);
    free(result.profile);
  }
  free(bytes);
  return goes_on;
}

/// Attempts something that the sandbox must prevent, for its test.
static int misbehave(const char *how) {
  sandbox_allow_seconds(30);
  if (strcmp(how, "open") == 0) return open("/etc/hostname", O_RDONLY);
  if (strcmp(how, "connect") == 0) return socket(AF_INET, SOCK_STREAM, 0);
  if (strcmp(how, "fork") == 0) return fork();
  if (strcmp(how, "run") == 0) return execl("/bin/true", "true", (char *)NULL);
  if (strcmp(how, "spin") == 0) {
    sandbox_allow_seconds(1);
    for (volatile unsigned i = 0;; i++) continue;
  }
  // Allocate until no memory is left.
  for (int megabytes = 0;; megabytes += 16) {
    // `volatile` keeps the compiler from removing memory that is never read.
    volatile uint8_t *more = malloc(16u << 20);
    if (more == NULL) return megabytes >= 100 && megabytes <= 400 ? 0 : 1;
    for (size_t at = 0; at < 16u << 20; at += 4096) more[at] = 1;
  }
}

int main(int count, char **arguments) {
  // Keep the memory of an image of usual size for the next one, because allocating it again takes a sixth of the
  // decoding time. The memory of a large image is released when it is done.
  mallopt(M_MMAP_THRESHOLD, IMAGE_KEPT_BYTES);
  mallopt(M_TRIM_THRESHOLD, 2 * IMAGE_KEPT_BYTES);
  image_share_memory();
  if (!sandbox_enter()) return 71;
  if (count == 3 && strcmp(arguments[1], "--misbehave") == 0) return misbehave(arguments[2]);
  while (serve()) continue;
  return 0;
}
