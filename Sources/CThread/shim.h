#ifndef FEEDSTREAM_CTHREAD_H
#define FEEDSTREAM_CTHREAD_H

#include <pthread.h>
#include <stdint.h>

/// Identifies the calling thread; never 0. A single instruction on known platforms: a call of `pthread_self` costs more
/// than the rest of the thread check in a subject or a join. Volatile, because a task may continue on another thread.
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

#endif
