#ifndef FEEDSTREAM_CLIBUV_H
#define FEEDSTREAM_CLIBUV_H

#include <pthread.h>
#include <stdint.h>
#include <uv.h>

// `uv_thread_t` is an integer on Linux and a pointer on Darwin.

/// The calling thread, never 0.
static inline uintptr_t clibuv_thread_self(void) { return (uintptr_t)uv_thread_self(); }

static inline uintptr_t clibuv_thread_to_int(uv_thread_t thread) { return (uintptr_t)thread; }
static inline uv_thread_t clibuv_thread_from_int(uintptr_t number) { return (uv_thread_t)number; }

/// Lets a thread's resources go when it ends; it cannot be joined any more.
static inline void clibuv_thread_detach(uv_thread_t thread) { (void)pthread_detach(thread); }

/// Names the calling thread for debuggers; names of more than 15 bytes are refused by Linux.
static inline void clibuv_thread_set_name(const char *name) {
#ifdef __APPLE__
  (void)pthread_setname_np(name);
#else
  extern int pthread_setname_np(pthread_t, const char *);
  (void)pthread_setname_np(pthread_self(), name);
#endif
}

#endif
