// The memory for an image's pixels. The parent may share memory with this process, so that it doesn't have to read the
// pixels of a large image from a pipe, which takes about half as long as decoding them.
#define _GNU_SOURCE
#include "image.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>

/// The descriptor of the shared memory.
enum { shared_descriptor = 3 };

static uint8_t *shared;
static size_t shared_length;

void image_share_memory(void) {
  struct stat status;
  // Only a memory file has seals. One that can't shrink is safe to write to.
  const int seals = fcntl(shared_descriptor, F_GET_SEALS);
  if (seals < 0 || (seals & F_SEAL_SHRINK) == 0 || fstat(shared_descriptor, &status) != 0) return;
  void *memory = mmap(NULL, (size_t)status.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, shared_descriptor, 0);
  if (memory == MAP_FAILED) return;
  shared = memory;
  shared_length = (size_t)status.st_size;
}

uint8_t *image_pixels(size_t size, bool is_final) {
  return is_final && size <= shared_length ? shared : malloc(size);
}

size_t image_shared_length(void) { return shared_length; }

void image_free_pixels(uint8_t *pixels) {
  if (!image_is_shared(pixels)) free(pixels);
}

bool image_is_shared(const uint8_t *pixels) { return shared != NULL && pixels == shared; }
