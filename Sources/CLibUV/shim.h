#ifndef FEEDSTREAM_CLIBUV_H
#define FEEDSTREAM_CLIBUV_H

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <sys/socket.h>
#include <unistd.h>
#include <uv.h>
#ifdef __linux__
#include <elf.h>
#include <linux/filter.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unwind.h>
#endif

// `uv_thread_t` is an integer on Linux and a pointer on Darwin.

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

/// The calling thread's name; 0, or an error number.
static inline int clibuv_thread_get_name(char *name, size_t size) {
#ifdef __APPLE__
  return pthread_getname_np(pthread_self(), name, size);
#else
  extern int pthread_getname_np(pthread_t, char *, size_t);
  return pthread_getname_np(pthread_self(), name, size);
#endif
}

/// Makes the loop measure for how long it waits (`uv_metrics_idle_time`); 0, or an error.
static inline int clibuv_measure_waiting(uv_loop_t *loop) { return uv_loop_configure(loop, UV_METRICS_IDLE_TIME); }

/// Lets sockets of other loops and processes of this user listen where this one does, if they allow that too; 0, or a negative error.
static inline int clibuv_share_port(const uv_handle_t *handle) {
  uv_os_fd_t descriptor;
  int on = 1;
  int code = uv_fileno(handle, &descriptor);
  if (code != 0) return code;
  if (setsockopt(descriptor, SOL_SOCKET, SO_REUSEPORT, &on, sizeof on) == 0) return 0;
  return uv_translate_sys_error(errno);
}

/// Makes a TCP socket that listens ignore requests for new connections, while those that are being established complete; 0, or a negative
/// error. Clients repeat an ignored request after a second.
static inline int clibuv_ignore_new_connections(const uv_handle_t *handle) {
#ifdef __linux__
  uv_os_fd_t descriptor;
  int code = uv_fileno(handle, &descriptor);
  if (code != 0) return code;
  // The packet begins with the TCP header, whose byte 13 has SYN (2) and ACK (16).
  struct sock_filter instructions[] = {
    BPF_STMT(BPF_LD | BPF_B | BPF_ABS, 13),
    BPF_STMT(BPF_ALU | BPF_AND | BPF_K, 18),
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 2, 0, 1),
    BPF_STMT(BPF_RET | BPF_K, 0),
    BPF_STMT(BPF_RET | BPF_K, 0xFFFFFFFF),
  };
  struct sock_fprog program = {sizeof instructions / sizeof *instructions, instructions};
  if (setsockopt(descriptor, SOL_SOCKET, SO_ATTACH_FILTER, &program, sizeof program) == 0) return 0;
  return uv_translate_sys_error(errno);
#else
  (void)handle;
  return UV_ENOTSUP;
#endif
}

/// True if bytes wait in a socket.
static inline int clibuv_has_input(const uv_handle_t *handle) {
  uv_os_fd_t descriptor;
  char byte;
  return uv_fileno(handle, &descriptor) == 0 && recv(descriptor, &byte, 1, MSG_PEEK | MSG_DONTWAIT) > 0;
}

/// Tells the peer of a socket immediately that nothing more will be written. Every write must be complete.
static inline void clibuv_end_writing(const uv_handle_t *handle) {
  uv_os_fd_t descriptor;
  if (uv_fileno(handle, &descriptor) == 0) (void)shutdown(descriptor, SHUT_WR);
}

/// Puts the null device where the process has no standard stream, so that no other descriptor gets its number: libuv
/// aborts when it closes one of these. There is nothing to read from it, and what is written to it fails.
static inline void clibuv_fill_standard_streams(void) {
  for (int number = 0; number < 3; number++) {
    if (fcntl(number, F_GETFD) == -1 && errno == EBADF && open("/dev/null", O_RDONLY) != number) return;
  }
}

#ifdef __linux__
/// True on the thread that the process began with.
static inline bool clibuv_is_main_thread(void) { return getpid() == (pid_t)syscall(SYS_gettid); }

/// True when the process may open another descriptor.
static inline bool clibuv_may_open(void) {
  int descriptor = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 0);
  return descriptor != -1 && close(descriptor) == 0;
}

// The mask of 8,192 processors, which is the kernel's largest.
#define CLIBUV_MASK_WORDS (8192 / (8 * sizeof(unsigned long)))

/// The number of processors that the calling thread may run on; 1 when the kernel does not say.
static inline int clibuv_allowed_processors(void) {
  unsigned long mask[CLIBUV_MASK_WORDS] = {0};
  if (syscall(SYS_sched_getaffinity, 0, sizeof mask, mask) <= 0) return 1;
  int count = 0;
  for (unsigned word = 0; word < CLIBUV_MASK_WORDS; word++) count += __builtin_popcountl(mask[word]);
  return count > 0 ? count : 1;
}

/// Keeps the calling thread on one of the processors that it may run on, counted from 0 and around.
/// Returns false when the kernel refuses.
static inline bool clibuv_pin_thread(int index) {
  unsigned long mask[CLIBUV_MASK_WORDS] = {0};
  if (syscall(SYS_sched_getaffinity, 0, sizeof mask, mask) <= 0) return false;
  int left = index % clibuv_allowed_processors();
  const int bits = 8 * sizeof(unsigned long);
  for (int place = 0; place < 8192; place++) {
    if (!(mask[place / bits] >> (place % bits) & 1) || left-- > 0) continue;
    unsigned long one[CLIBUV_MASK_WORDS] = {0};
    one[place / bits] = 1UL << (place % bits);
    return syscall(SYS_sched_setaffinity, 0, sizeof one, one) == 0;
  }
  return false;
}

/// Reads what the kernel has in memory of a file, and does not wait for a disk.
/// Returns the number of bytes, 0 at the end, and -1 with the reason in `errno`: EAGAIN when a disk is needed.
static inline ssize_t clibuv_read_cached(int descriptor, void *room, size_t count, int64_t offset) {
#ifdef SYS_preadv2
  struct iovec part = {room, count};
  // RWF_NOWAIT, since Linux 4.14; the upper half of the offset is for machines of 32 bits.
  return syscall(SYS_preadv2, descriptor, &part, 1, (unsigned long)offset, (unsigned long)(offset >> 16 >> 16), 8);
#else
  errno = ENOSYS;
  return -1;
#endif
}

/// Opens a descriptor that one thread makes readable for another; negative for an error of libuv's.
static inline int clibuv_open_event(void) {
  int descriptor = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  return descriptor >= 0 ? descriptor : uv_translate_sys_error(errno);
}

static inline void clibuv_set_event(int descriptor) {
  uint64_t one = 1;
  while (write(descriptor, &one, sizeof one) == -1 && errno == EINTR) {}
}

static inline void clibuv_close_event(int descriptor) { (void)close(descriptor); }

/// Resets an event's descriptor, which does not block.
/// Returns true when the event had happened.
static inline bool clibuv_take_event(int descriptor) {
  uint64_t count;
  return read(descriptor, &count, sizeof count) == sizeof count;
}
#endif

#ifdef __linux__
// The stack of another thread, which takes it itself when a signal arrives there.

#define CLIBUV_MAX_FRAMES 64

typedef struct {
  /// For each call, from the innermost: an address within the instruction that calls.
  uintptr_t frames[CLIBUV_MAX_FRAMES];
  int count;
  /// Set after everything else.
  int is_taken;
} clibuv_stack;

static inline bool clibuv_is_taken(clibuv_stack *stack) { return __atomic_load_n(&stack->is_taken, __ATOMIC_ACQUIRE) != 0; }

/// The calling thread's number, as the kernel knows it.
static inline int clibuv_thread_number(void) { return (int)syscall(SYS_gettid); }

static inline _Unwind_Reason_Code clibuv_add_frame(struct _Unwind_Context *context, void *pointer) {
  clibuv_stack *stack = (clibuv_stack *)pointer;
  int is_interrupted = 0;
  uintptr_t address = (uintptr_t)_Unwind_GetIPInfo(context, &is_interrupted);
  // What came before is the handler and the kernel's trampoline.
  if (is_interrupted) stack->count = 0;
  if (address == 0 || stack->count == CLIBUV_MAX_FRAMES) return _URC_END_OF_STACK;
  stack->frames[stack->count++] = is_interrupted ? address : address - 1;
  return _URC_NO_REASON;
}

/// The handler. It allocates nothing and takes no lock.
static inline void clibuv_take_stack(int number, siginfo_t *info, void *context) {
  (void)number;
  (void)context;
  if (info->si_code != SI_QUEUE || info->si_pid != getpid() || info->si_value.sival_ptr == NULL) return;
  int error = errno;
  clibuv_stack *stack = (clibuv_stack *)info->si_value.sival_ptr;
  (void)_Unwind_Backtrace(clibuv_add_frame, stack);
  __atomic_store_n(&stack->is_taken, 1, __ATOMIC_RELEASE);
  errno = error;
}

/// Requests the stack of a thread of this process, into memory that stays.
/// Returns false when the program handles `SIGURG` itself, or the thread has ended.
static inline bool clibuv_request_stack(int thread, clibuv_stack *stack) {
  struct sigaction present;
  if (sigaction(SIGURG, NULL, &present) != 0) return false;
  if (!(present.sa_flags & SA_SIGINFO) || present.sa_sigaction != clibuv_take_stack) {
    if ((present.sa_flags & SA_SIGINFO) || present.sa_handler != SIG_DFL) return false;
    struct sigaction own;
    memset(&own, 0, sizeof own);
    own.sa_sigaction = clibuv_take_stack;
    own.sa_flags = SA_SIGINFO | SA_RESTART | SA_ONSTACK;
    if (sigaction(SIGURG, &own, NULL) != 0) return false;
  }
  siginfo_t info;
  memset(&info, 0, sizeof info);
  info.si_signo = SIGURG;
  info.si_code = SI_QUEUE;
  info.si_pid = getpid();
  info.si_uid = getuid();
  info.si_value.sival_ptr = stack;
  return syscall(SYS_rt_tgsigqueueinfo, getpid(), thread, SIGURG, &info) == 0;
}

/// The file that was loaded where an address is, and the place of its beginning; as `Dl_info`.
typedef struct {
  const char *path;
  void *base;
  const char *symbol;
  void *symbol_address;
} clibuv_image;

extern int clibuv_find_image(const void *address, clibuv_image *image) __asm__("dladdr");
#endif

/// Marks every descriptor but the standard streams so that programs started from now on do not get it.
/// Returns 0, or -1 when the system cannot do that in one call.
static inline int clibuv_close_on_spawn(void) {
#ifdef SYS_close_range
  return (int)syscall(SYS_close_range, 3U, ~0U, 4U /* CLOSE_RANGE_CLOEXEC, since Linux 5.11 */);
#else
  return -1;
#endif
}

#endif
