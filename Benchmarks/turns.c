// Loaded before `feed`: notes how long its loop works between two waits for events (epoll_wait, which libuv calls), by the
// wall clock and in processor time of the loop's own thread, and appends the longest of each to the file $TURNS.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static double longest[2], began[2];
static int has_begun;

static double now(clockid_t clock) {
  struct timespec time;
  clock_gettime(clock, &time);
  return time.tv_sec * 1e3 + time.tv_nsec / 1e6;
}

static const clockid_t clocks[2] = {CLOCK_MONOTONIC, CLOCK_THREAD_CPUTIME_ID};

static void end_turn(void) {
  for (int i = 0; has_begun && i < 2; i++) {
    const double turn = now(clocks[i]) - began[i];
    if (turn > longest[i]) longest[i] = turn;
  }
}

int epoll_wait(int epoll, struct epoll_event *events, int count, int timeout) {
  static int (*wait)(int, struct epoll_event *, int, int);
  if (!wait) wait = dlsym(RTLD_NEXT, "epoll_wait");
  // The loop is the main thread's.
  const int is_loop = syscall(SYS_gettid) == getpid();
  if (is_loop) end_turn();
  const int result = wait(epoll, events, count, timeout);
  for (int i = 0; is_loop && i < 2; i++) began[i] = now(clocks[i]);
  has_begun |= is_loop;
  return result;
}

__attribute__((destructor)) static void report(void) {
  FILE *file = fopen(getenv("TURNS"), "a");
  if (!file) return;
  fprintf(file, "%f %f\n", longest[0], longest[1]);
  fclose(file);
}
