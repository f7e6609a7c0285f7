#ifndef FEEDSTREAM_CLIBUV_H
#define FEEDSTREAM_CLIBUV_H

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>
#include <uv.h>
#ifdef __linux__
#include <elf.h>
#include <linux/filter.h>
#include <linux/memfd.h>
#include <linux/stat.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unwind.h>
#endif

// `uv_thread_t` is an integer on Linux and a pointer on Darwin.

static inline uintptr_t clibuv_thread_to_int(uv_thread_t thread) { return (uintptr_t)thread; }
static inline uv_thread_t clibuv_thread_from_int(uintptr_t number) { return (uv_thread_t)number; }

/// Detaches a thread: its resources are released when it ends, and it can no longer be joined.
static inline void clibuv_thread_detach(uv_thread_t thread) { (void)pthread_detach(thread); }

/// Names the calling thread for debuggers; Linux refuses names of more than 15 bytes.
static inline void clibuv_thread_set_name(const char *name) {
#ifdef __APPLE__
  (void)pthread_setname_np(name);
#else
  extern int pthread_setname_np(pthread_t, const char *);
  (void)pthread_setname_np(pthread_self(), name);
#endif
}

/// Gets the calling thread's name. Returns 0, or an error number.
static inline int clibuv_thread_get_name(char *name, size_t size) {
#ifdef __APPLE__
  return pthread_getname_np(pthread_self(), name, size);
#else
  extern int pthread_getname_np(pthread_t, char *, size_t);
  return pthread_getname_np(pthread_self(), name, size);
#endif
}

/// Makes the loop measure the time that it waits (`uv_metrics_idle_time`). Returns 0, or an error.
static inline int clibuv_measure_waiting(uv_loop_t *loop) { return uv_loop_configure(loop, UV_METRICS_IDLE_TIME); }

/// Makes the system refuse new connections to a listening socket, even if another process has a copy of the descriptor.
static inline void clibuv_stop_listening(const uv_handle_t *handle) {
  uv_os_fd_t descriptor;
  if (uv_fileno(handle, &descriptor) == 0) (void)shutdown(descriptor, SHUT_RDWR);
}

/// Lets sockets of other loops, and of this user's other processes, listen on the same port if those sockets also allow
/// it. Returns 0, or a negative error.
static inline int clibuv_share_port(const uv_handle_t *handle) {
  uv_os_fd_t descriptor;
  int on = 1;
  int code = uv_fileno(handle, &descriptor);
  if (code != 0) return code;
  if (setsockopt(descriptor, SOL_SOCKET, SO_REUSEPORT, &on, sizeof on) == 0) return 0;
  return uv_translate_sys_error(errno);
}

/// Makes a pipe forget the path to which it is bound, so that closing the pipe doesn't remove the file there.
static inline void clibuv_forget_path(uv_handle_t *handle) {
  uv_pipe_t *pipe = (uv_pipe_t *)handle;
  free((void *)pipe->pipe_fname);
  pipe->pipe_fname = NULL;
}

/// Makes a listening TCP socket ignore new connection attempts, while those in progress complete. Returns 0, or a
/// negative error. Clients retry an ignored attempt after a second.
static inline int clibuv_ignore_new_connections(const uv_handle_t *handle) {
#ifdef __linux__
  uv_os_fd_t descriptor;
  int code = uv_fileno(handle, &descriptor);
  if (code != 0) return code;
  // The packet begins with the TCP header, whose byte 13 contains SYN (2) and ACK (16).
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

/// True if a socket has unread bytes.
static inline int clibuv_has_input(const uv_handle_t *handle) {
  uv_os_fd_t descriptor;
  char byte;
  return uv_fileno(handle, &descriptor) == 0 && recv(descriptor, &byte, 1, MSG_PEEK | MSG_DONTWAIT) > 0;
}

/// Tells the peer immediately that nothing more will be written. Every write must be complete.
static inline void clibuv_end_writing(const uv_handle_t *handle) {
  uv_os_fd_t descriptor;
  if (uv_fileno(handle, &descriptor) == 0) (void)shutdown(descriptor, SHUT_WR);
}

/// Makes closing a TCP socket reset its connection. Other sockets are unchanged.
static inline void clibuv_reset_at_close(const uv_handle_t *handle) {
  uv_os_fd_t descriptor;
  struct linger none = {1, 0};
  if (uv_fileno(handle, &descriptor) == 0) (void)setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &none, sizeof none);
}

/// Opens the null device for each standard stream that the process lacks. Otherwise, another descriptor would get that
/// number, and libuv aborts when it closes such a descriptor. Reading from the null device yields nothing, and writing
/// to it fails.
static inline void clibuv_fill_standard_streams(void) {
  for (int number = 0; number < 3; number++) {
    if (fcntl(number, F_GETFD) == -1 && errno == EBADF && open("/dev/null", O_RDONLY) != number) return;
  }
}

#ifdef __linux__
/// True on the main thread of the process.
static inline bool clibuv_is_main_thread(void) { return getpid() == (pid_t)syscall(SYS_gettid); }

/// True if the process can open another descriptor.
static inline bool clibuv_may_open(void) {
  int descriptor = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 0);
  return descriptor != -1 && close(descriptor) == 0;
}

/// A memory file whose size can't change, so that accesses to it can't fail. Returns -1 if the kernel refuses.
static inline int clibuv_open_memory(off_t size) {
  int descriptor = (int)syscall(SYS_memfd_create, "shared", MFD_CLOEXEC | MFD_ALLOW_SEALING);
  if (descriptor < 0) return -1;
  // A limit on the size of files applies here, too, and its signal would end the process.
  struct rlimit most;
  if (getrlimit(RLIMIT_FSIZE, &most) == 0 && most.rlim_cur >= (rlim_t)size && ftruncate(descriptor, size) == 0
      && fcntl(descriptor, 1024 + 9 /* F_ADD_SEALS */, 7 /* F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW */) == 0) {
    return descriptor;
  }
  close(descriptor);
  return -1;
}

// A mask of 8,192 processors, the kernel's maximum.
#define CLIBUV_MASK_WORDS (8192 / (8 * sizeof(unsigned long)))

/// The number of processors that the calling thread may run on; 1 if the kernel doesn't say.
static inline int clibuv_allowed_processors(void) {
  unsigned long mask[CLIBUV_MASK_WORDS] = {0};
  if (syscall(SYS_sched_getaffinity, 0, sizeof mask, mask) <= 0) return 1;
  int count = 0;
  for (unsigned word = 0; word < CLIBUV_MASK_WORDS; word++) count += __builtin_popcountl(mask[word]);
  return count > 0 ? count : 1;
}

/// Pins the calling thread to one of the processors that it may run on; `index` wraps around. Returns false if the
/// kernel refuses.
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

/// Reads bytes of a file that the kernel has cached, without waiting for a disk. Returns the number of bytes, 0 at
/// the end, and -1 with the reason in `errno`: EAGAIN if a disk is needed.
static inline ssize_t clibuv_read_cached(int descriptor, void *room, size_t count, int64_t offset) {
#ifdef SYS_preadv2
  struct iovec part = {room, count};
  // RWF_NOWAIT, since Linux 4.14; the upper half of the offset is for 32-bit machines.
  return syscall(SYS_preadv2, descriptor, &part, 1, (unsigned long)offset, (unsigned long)(offset >> 16 >> 16), 8);
#else
  errno = ENOSYS;
  return -1;
#endif
}

/// Opens a descriptor with which one thread can wake another; negative if libuv reports an error.
static inline int clibuv_open_event(void) {
  int descriptor = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  return descriptor >= 0 ? descriptor : uv_translate_sys_error(errno);
}

static inline void clibuv_set_event(int descriptor) {
  uint64_t one = 1;
  while (write(descriptor, &one, sizeof one) == -1 && errno == EINTR) {}
}

static inline void clibuv_close_event(int descriptor) { (void)close(descriptor); }

/// Resets an event's descriptor without blocking. Returns true if the event had happened.
static inline bool clibuv_take_event(int descriptor) {
  uint64_t count;
  return read(descriptor, &count, sizeof count) == sizeof count;
}
#endif

#ifdef __linux__
// The stack of another thread, which that thread records itself in a signal handler.

#define CLIBUV_MAX_FRAMES 64

typedef struct {
  /// For each call, innermost first: an address within the calling instruction.
  uintptr_t frames[CLIBUV_MAX_FRAMES];
  int count;
  /// The number of the loop's current turn, which changes when the turn ends.
  const uint64_t *turn;
  /// The turn in which the stack was recorded.
  uint64_t taken_in;
  /// Nonzero when the stack is complete; set last.
  int is_taken;
} clibuv_stack;

static inline bool clibuv_is_taken(clibuv_stack *stack) { return __atomic_load_n(&stack->is_taken, __ATOMIC_ACQUIRE) != 0; }

/// The kernel's number for the calling thread.
static inline int clibuv_thread_number(void) { return (int)syscall(SYS_gettid); }

static inline _Unwind_Reason_Code clibuv_add_frame(struct _Unwind_Context *context, void *pointer) {
  clibuv_stack *stack = (clibuv_stack *)pointer;
  int is_interrupted = 0;
  uintptr_t address = (uintptr_t)_Unwind_GetIPInfo(context, &is_interrupted);
  // The earlier frames are those of the handler and the kernel's trampoline.
  if (is_interrupted) stack->count = 0;
  if (address == 0 || stack->count == CLIBUV_MAX_FRAMES) return _URC_END_OF_STACK;
  stack->frames[stack->count++] = is_interrupted ? address : address - 1;
  return _URC_NO_REASON;
}

/// The signal handler. It allocates nothing and takes no lock.
static inline void clibuv_take_stack(int number, siginfo_t *info, void *context) {
  (void)number;
  (void)context;
  if (info->si_code != SI_QUEUE || info->si_pid != getpid() || info->si_value.sival_ptr == NULL) return;
  int error = errno;
  clibuv_stack *stack = (clibuv_stack *)info->si_value.sival_ptr;
  stack->taken_in = __atomic_load_n(stack->turn, __ATOMIC_RELAXED);
  (void)_Unwind_Backtrace(clibuv_add_frame, stack);
  __atomic_store_n(&stack->is_taken, 1, __ATOMIC_RELEASE);
  errno = error;
}

/// Requests the stack of a thread in this process. The memory for the stack, and the turn number that it points to,
/// must stay allocated. Returns false if the program handles `SIGURG` itself, or the thread has ended.
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

/// The time at which a file was created, in nanoseconds since 1970; 0 if the file system doesn't record it.
static inline int64_t clibuv_created(const char *path) {
#ifdef SYS_statx
  struct statx status;
  memset(&status, 0, sizeof status);
  if (syscall(SYS_statx, AT_FDCWD, path, 0, STATX_BTIME, &status) != 0 || !(status.stx_mask & STATX_BTIME)) return 0;
  return (int64_t)status.stx_btime.tv_sec * 1000000000 + status.stx_btime.tv_nsec;
#else
  return 0;
#endif
}

/// The file that is loaded at an address, and where it begins, as in `Dl_info`.
typedef struct {
  const char *path;
  void *base;
  const char *symbol;
  void *symbol_address;
} clibuv_image;

extern int clibuv_find_image(const void *address, clibuv_image *image) __asm__("dladdr");
#endif

/// Marks every descriptor except the standard streams so that new child processes don't inherit it. Returns 0, or -1 if
/// the system can't do that in one call.
static inline int clibuv_close_on_spawn(void) {
#ifdef SYS_close_range
  return (int)syscall(SYS_close_range, 3U, ~0U, 4U /* CLOSE_RANGE_CLOEXEC, since Linux 5.11 */);
#else
  return -1;
#endif
}

#endif
