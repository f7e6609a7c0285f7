#define _GNU_SOURCE
// Decodes a made-up photograph by way of image-decoder, and with libjpeg-turbo in this process, in turn: Benchmarks/decoding.

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <jpeglib.h>

static uint8_t *make(int width, int height, size_t *length) {
  struct jpeg_compress_struct info;
  struct jpeg_error_mgr errors;
  info.err = jpeg_std_error(&errors);
  jpeg_create_compress(&info);
  unsigned char *target = NULL;
  unsigned long size = 0;
  jpeg_mem_dest(&info, &target, &size);
  info.image_width = (JDIMENSION)width;
  info.image_height = (JDIMENSION)height;
  info.input_components = 3;
  info.in_color_space = JCS_RGB;
  jpeg_set_defaults(&info);
  jpeg_set_quality(&info, 85, TRUE);
  jpeg_start_compress(&info, TRUE);
  uint8_t *row = malloc((size_t)width * 3);
  uint32_t seed = 1;
  while (info.next_scanline < info.image_height) {
    const int y = (int)info.next_scanline;
    for (int x = 0; x < width; x++) {
      seed = seed * 1664525u + 1013904223u;
      const double grain = (double)(seed >> 24) / 16, edge = (x / 97 + y / 61) % 2 * 24;
      row[x * 3] = (uint8_t)(110 + 60 * sin(x / 90.0) + grain + edge);
      row[x * 3 + 1] = (uint8_t)(100 + 60 * cos(y / 70.0) + grain + edge);
      row[x * 3 + 2] = (uint8_t)(90 + 60 * sin((x + y) / 130.0) + grain);
    }
    jpeg_write_scanlines(&info, &row, 1);
  }
  jpeg_finish_compress(&info);
  jpeg_destroy_compress(&info);
  free(row);
  *length = size;
  return target;
}

static int decode(const uint8_t *bytes, size_t length, int least) {
  struct jpeg_decompress_struct info;
  struct jpeg_error_mgr errors;
  info.err = jpeg_std_error(&errors);
  jpeg_create_decompress(&info);
  jpeg_mem_src(&info, bytes, length);
  jpeg_read_header(&info, TRUE);
  info.scale_denom = 8;
  for (info.scale_num = least == 0 ? 8 : 1; info.scale_num < 8; info.scale_num++) {
    jpeg_calc_output_dimensions(&info);
    if ((int)info.output_width >= least) break;
  }
  info.out_color_space = JCS_EXT_RGBA;
  jpeg_start_decompress(&info);
  const size_t row = (size_t)info.output_width * 4;
  uint8_t *all = malloc(row * info.output_height);
  while (info.output_scanline < info.output_height) {
    JSAMPROW at = all + row * info.output_scanline;
    jpeg_read_scanlines(&info, &at, 1);
  }
  const int width = (int)info.output_width;
  jpeg_destroy_decompress(&info);
  free(all);
  return width;
}

static double processor(void) {
  double sum = 0;
  for (int i = 0; i < 2; i++) {
    struct rusage usage;
    getrusage(i == 0 ? RUSAGE_SELF : RUSAGE_CHILDREN, &usage);
    sum += usage.ru_utime.tv_sec + usage.ru_stime.tv_sec + (usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
  }
  return sum;
}

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec + time.tv_nsec / 1e9;
}

static void pass(int descriptor, void *bytes, size_t length, int writes) {
  for (uint8_t *at = bytes; length > 0;) {
    const ssize_t count = writes ? write(descriptor, at, length) : read(descriptor, at, length);
    if (count <= 0) {
      perror("decoding: the decoder has no more to say");
      exit(1);
    }
    at += count;
    length -= (size_t)count;
  }
}

/// A process of `program` that decodes the image this many times, its start and end included.
static void ask(const char *program, uint8_t *bytes, size_t length, int width, int times) {
  int in[2], out[2];
  if (pipe(in) != 0 || pipe(out) != 0) exit(1);
  const size_t room = 16 << 20;
  const int file = memfd_create("shared", MFD_CLOEXEC | MFD_ALLOW_SEALING);
  if (ftruncate(file, (off_t)room) != 0 || fcntl(file, F_ADD_SEALS, F_SEAL_SHRINK) != 0) exit(1);
  const uint8_t *shared = mmap(NULL, room, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  const pid_t child = fork();
  if (child == 0) {
    dup2(in[0], 0);
    dup2(out[1], 1);
    dup2(file, 3);
    close(in[1]);
    close(out[0]);
    execl(program, program, (char *)NULL);
    _exit(1);
  }
  close(in[0]);
  close(out[1]);
  for (int i = 0; i < times; i++) {
    uint32_t request[5] = {0x31474D49, (uint32_t)length, (uint32_t)width, 0, 0}, answer[9];
    pass(in[1], request, sizeof request, 1);
    pass(in[1], bytes, length, 1);
    pass(out[0], answer, sizeof answer, 0);
    if (answer[1] != 0 || answer[2] != (uint32_t)(width == 0 ? 2000 : width)) {
      fprintf(stderr, "decoding: the response has the status %u and a width of %u\n", answer[1], answer[2]);
      exit(1);
    }
    uint8_t *pixels = malloc(answer[7]);
    if (answer[6] == 3) memcpy(pixels, shared, answer[7]);
    else pass(out[0], pixels, answer[7], 0);
    free(pixels);
  }
  close(in[1]);
  close(out[0]);
  close(file);
  munmap((void *)shared, room);
  waitpid(child, NULL, 0);
}

static int rising(const void *a, const void *b) { return *(const double *)a < *(const double *)b ? -1 : 1; }

int main(int count, char **arguments) {
  if (count != 2) return 64;
  size_t length;
  uint8_t *bytes = make(2000, 1500, &length);
  printf("A photograph of 2,000 × 1,500 pixels, %zu KiB, one process, the median of 9 rounds.\n\n", length / 1024);
  printf("| decoded to | a second | in C | processor time, times C | by the clock, times C |\n|---|---|---|---|---|\n");
  const int widths[] = {400, 800, 0}, times = 20;
  for (int row = 0; row < 3; row++) {
    double processors[9], clocks[9], ours[9], inC[9];
    for (int round = 0; round < 9; round++) {
      double used[2], passed[2];
      for (int turn = 0; turn < 2; turn++) {
        const int who = (turn + round) % 2;
        const double before = processor(), start = now();
        if (who == 0) ask(arguments[1], bytes, length, widths[row], times);
        else for (int i = 0; i < times; i++) decode(bytes, length, widths[row]);
        used[who] = processor() - before;
        passed[who] = now() - start;
      }
      processors[round] = used[0] / used[1];
      clocks[round] = passed[0] / passed[1];
      ours[round] = times / passed[0];
      inC[round] = times / passed[1];
    }
    double *all[] = {ours, inC, processors, clocks};
    for (int i = 0; i < 4; i++) qsort(all[i], 9, sizeof(double), rising);
    printf("| %d pixels across | %.1f | %.1f | %.2f | %.2f |\n", widths[row] == 0 ? 2000 : widths[row], ours[4], inC[4],
           processors[4], clocks[4]);
  }
}
