#ifndef FEEDSTREAM_CTHREAD_H
#define FEEDSTREAM_CTHREAD_H

#include <pthread.h>
#include <stdint.h>

/// Identifies the calling thread; never 0. This is a single instruction on known platforms, because a call to
/// `pthread_self` would take longer than the rest of the thread check in a subject or a join. It is volatile because a
/// task may continue on a different thread.
static inline uintptr_t cthread_self(void) {
#if defined(__linux__) && defined(__x86_64__)
  uintptr_t thread;
  __asm__ volatile("movq %%fs:0, %0" : "=r"(thread));
  return thread;
#elif defined(__linux__) && defined(__aarch64__)
  uintptr_t thread;
  __asm__ volatile("mrs %0, tpidr_el0" : "=r"(thread));
  return thread;
#else
  return (uintptr_t)pthread_self();
#endif
}

// Declared here under another name, because the streams' files don't import Dispatch.
#if defined(__APPLE__)
extern char cthread_dispatch_main_queue __asm__("__dispatch_main_q");
#else
extern char cthread_dispatch_main_queue __asm__("_dispatch_main_q");
#endif

/// Dispatch's main queue.
static inline void *cthread_main_queue(void) { return &cthread_dispatch_main_queue; }

#endif
