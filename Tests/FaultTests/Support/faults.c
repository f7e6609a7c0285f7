// Preloaded (LD_PRELOAD) into a program under test: has chosen system calls fail, or end the process, and moves its clocks.
// Built by the tests themselves, with the clang that comes with Swift.
//
//   FAULT_FOLDER   calls on files below this path are counted, from 1
//   FAULT_CALLS    "changes" (the default) counts what changes files or makes them durable; "all" counts also what looks
//                  at them: openings, reads, locks, mappings
//   FAULT_AT       the number of the call that goes wrong; 0 for none
//   FAULT_KIND     what happens to it: "kill" before it is made, "torn" halfway through, a "short" write, or an error:
//                  "EIO", "ENOSPC", "EACCES", "EMFILE"
//   FAULT_LASTS    if set, all later calls fail as well
//   FAULT_LOG      a line is added to this file for the first call that goes wrong: its number, name and file
//   FAULT_THREADS  how many attempts to start a thread fail, from the first on
//   FAULT_CLOCKS   a file of two 64-bit integers: nanoseconds to add to the wall clock and to the monotonic clocks
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#define REAL(name) \
  static __typeof__(&name) real; \
  if (!real) real = (__typeof__(&name))dlsym(RTLD_NEXT, #name)

enum { MANY = 65536 };

static const char *folder, *kind, *log_path;
static size_t folder_length;
static long at;
static int lasts, counts_all;
static atomic_long calls, threads;
static _Atomic(char *) names[MANY];  // of the watched files that are open
static const volatile int64_t *clocks;

__attribute__((constructor)) static void begin(void) {
  const char *text;
  kind = (text = getenv("FAULT_KIND")) ? text : "";
  at = (text = getenv("FAULT_AT")) ? atol(text) : 0;
  lasts = getenv("FAULT_LASTS") != NULL;
  counts_all = (text = getenv("FAULT_CALLS")) && !strcmp(text, "all");
  log_path = getenv("FAULT_LOG");
  threads = (text = getenv("FAULT_THREADS")) ? atol(text) : 0;
  if ((text = getenv("FAULT_CLOCKS"))) {
    int file = (int)syscall(SYS_openat, AT_FDCWD, text, O_RDONLY | O_CLOEXEC);
    void *bytes = (void *)syscall(SYS_mmap, NULL, 16L, (long)PROT_READ, (long)MAP_SHARED, (long)file, 0L);
    if (file < 0 || bytes == MAP_FAILED) abort();
    syscall(SYS_close, file);
    clocks = bytes;
  }
  if ((text = getenv("FAULT_FOLDER"))) {
    folder_length = strlen(text);
    folder = text;
  }
}

static int is_watched(const char *path) { return folder && path && !strncmp(path, folder, folder_length); }
static const char *name_of(int file) { return folder && file >= 0 && file < MANY ? names[file] : NULL; }

static void stop(void) {
  syscall(SYS_kill, getpid(), SIGKILL);
  for (;;) pause();
}

static void note(long number, const char *call, const char *name) {
  char line[512];
  if (!log_path) return;
  int length = snprintf(line, sizeof line, "%ld %s %s\n", number, call, name);
  int file = (int)syscall(SYS_openat, AT_FDCWD, log_path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  syscall(SYS_write, file, line, length);
  syscall(SYS_close, file);
}

enum fate { GOES, FAILS, HALF, HALF_AND_STOP };

// Counts a call and says what becomes of it; sets `errno` for one that fails.
static enum fate fate_of(const char *call, const char *name, int is_change) {
  if (!name || (!is_change && !counts_all)) return GOES;
  long number = ++calls;
  if (!at || number < at || (number > at && !lasts)) return GOES;
  if (number == at) note(number, call, name);
  if (!strcmp(kind, "kill")) stop();
  if (!strcmp(kind, "torn")) return HALF_AND_STOP;
  if (!strcmp(kind, "short")) return HALF;
  if (!strcmp(kind, "EIO")) errno = EIO;
  else if (!strcmp(kind, "ENOSPC")) errno = ENOSPC;
  else if (!strcmp(kind, "EACCES")) errno = EACCES;
  else if (!strcmp(kind, "EMFILE")) errno = EMFILE;
  else abort();
  return FAILS;
}

// For calls that cannot be half done.
static int fails(const char *call, const char *name, int is_change) {
  enum fate fate = fate_of(call, name, is_change);
  if (fate == HALF_AND_STOP) stop();
  return fate == FAILS;
}

static void opened(int file, const char *path) {
  if (file >= 0 && file < MANY) names[file] = strdup(path + folder_length);
}

// MARK: Names

#define OPEN(name) \
  int name(const char *path, int flags, ...) { \
    REAL(name); \
    va_list rest; \
    va_start(rest, flags); \
    mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(rest, mode_t) : 0; \
    va_end(rest); \
    if (!is_watched(path)) return real(path, flags, mode); \
    if (fails("open", path + folder_length, flags & O_CREAT)) return -1; \
    int file = real(path, flags, mode); \
    opened(file, path); \
    return file; \
  }
OPEN(open)
OPEN(open64)

int close(int file) {
  REAL(close);
  if (name_of(file)) free(atomic_exchange(&names[file], NULL));
  return real(file);
}

int unlink(const char *path) {
  REAL(unlink);
  if (is_watched(path) && fails("unlink", path + folder_length, 1)) return -1;
  return real(path);
}

int rename(const char *from, const char *to) {
  REAL(rename);
  if (is_watched(from) && fails("rename", from + folder_length, 1)) return -1;
  return real(from, to);
}

int mkdir(const char *path, mode_t mode) {
  REAL(mkdir);
  if (is_watched(path) && fails("mkdir", path + folder_length, 1)) return -1;
  return real(path, mode);
}

// MARK: Contents

#define WRITE(name, parameters, arguments, half) \
  ssize_t name parameters { \
    REAL(name); \
    switch (fate_of(#name, name_of(file), 1)) { \
      case FAILS: return -1; \
      case HALF: return real half; \
      case HALF_AND_STOP: \
        (void)!real half; \
        stop(); \
      default: return real arguments; \
    } \
  }
WRITE(write, (int file, const void *bytes, size_t count), (file, bytes, count), (file, bytes, (count + 1) / 2))
WRITE(pwrite, (int file, const void *bytes, size_t count, off_t offset), (file, bytes, count, offset),
      (file, bytes, (count + 1) / 2, offset))
WRITE(pwrite64, (int file, const void *bytes, size_t count, off64_t offset), (file, bytes, count, offset),
      (file, bytes, (count + 1) / 2, offset))

#define CHANGE(name, parameters, arguments) \
  int name parameters { \
    REAL(name); \
    return fails(#name, name_of(file), 1) ? -1 : real arguments; \
  }
CHANGE(fsync, (int file), (file))
CHANGE(fdatasync, (int file), (file))
CHANGE(ftruncate, (int file, off_t length), (file, length))
CHANGE(ftruncate64, (int file, off64_t length), (file, length))
CHANGE(fchmod, (int file, mode_t mode), (file, mode))

#define LOOK(result, name, failure, parameters, arguments) \
  result name parameters { \
    REAL(name); \
    return fails(#name, name_of(file), 0) ? failure : real arguments; \
  }
LOOK(ssize_t, read, -1, (int file, void *bytes, size_t count), (file, bytes, count))
LOOK(ssize_t, pread, -1, (int file, void *bytes, size_t count, off_t offset), (file, bytes, count, offset))
LOOK(ssize_t, pread64, -1, (int file, void *bytes, size_t count, off64_t offset), (file, bytes, count, offset))
LOOK(int, flock, -1, (int file, int operation), (file, operation))
LOOK(void *, mmap, MAP_FAILED, (void *place, size_t length, int access, int flags, int file, off_t offset),
     (place, length, access, flags, file, offset))
LOOK(void *, mmap64, MAP_FAILED, (void *place, size_t length, int access, int flags, int file, off64_t offset),
     (place, length, access, flags, file, offset))

#define CONTROL(name) \
  int name(int file, int command, ...) { \
    REAL(name); \
    va_list rest; \
    va_start(rest, command); \
    void *argument = va_arg(rest, void *); \
    va_end(rest); \
    if (command == F_SETLK && fails("lock", name_of(file), 0)) return -1; \
    return real(file, command, argument); \
  }
CONTROL(fcntl)
CONTROL(fcntl64)

// MARK: Threads and clocks

int pthread_create(
  pthread_t *thread, const pthread_attr_t *attributes, void *(*body)(void *), void *argument) {
  REAL(pthread_create);
  if (threads > 0 && threads-- > 0) return EAGAIN;
  return real(thread, attributes, body, argument);
}

static int64_t offset_of(clockid_t clock) {
  if (!clocks) return 0;
  switch (clock) {
    case CLOCK_REALTIME: case CLOCK_REALTIME_COARSE: return clocks[0];
    case CLOCK_MONOTONIC: case CLOCK_MONOTONIC_COARSE: case CLOCK_MONOTONIC_RAW: case CLOCK_BOOTTIME: return clocks[1];
    default: return 0;
  }
}

int clock_gettime(clockid_t clock, struct timespec *time) {
  int result = (int)syscall(SYS_clock_gettime, clock, time);
  int64_t offset = offset_of(clock);
  if (result == 0 && offset != 0) {
    int64_t nanoseconds = time->tv_nsec + offset % 1000000000 + 1000000000;
    time->tv_sec += offset / 1000000000 + nanoseconds / 1000000000 - 1;
    time->tv_nsec = nanoseconds % 1000000000;
  }
  return result;
}

int gettimeofday(struct timeval *time, void *zone) {
  struct timespec now;
  (void)zone;
  clock_gettime(CLOCK_REALTIME, &now);
  time->tv_sec = now.tv_sec;
  time->tv_usec = now.tv_nsec / 1000;
  return 0;
}

time_t time(time_t *out) {
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  if (out) *out = now.tv_sec;
  return now.tv_sec;
}

int timespec_get(struct timespec *time, int base) {
  return clock_gettime(CLOCK_REALTIME, time) == 0 ? base : 0;
}
