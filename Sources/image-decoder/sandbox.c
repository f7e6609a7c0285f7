// Gives up privileges before the process reads its first byte: files, sockets, processes, and more memory than an image
// needs.
#define _GNU_SOURCE
#include "image.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>

/// The memory limit of the process: 320 MiB, including the program itself, besides the shared memory. 40 megapixels take
/// 160 MB.
static const rlim_t memory = 320u << 20;
/// The total processor time of the process, in seconds. The parent replaces the process before that, even if each image
/// takes the maximum (ImageDecoderProcess.mostImages).
static const rlim_t processor = 7200;

static bool limit(int resource, rlim_t value) {
  const struct rlimit limit = {value, value};
  return setrlimit(resource, &limit) == 0;
}

#if defined(__x86_64__)
#define ARCHITECTURE AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define ARCHITECTURE AUDIT_ARCH_AARCH64
#else
#error "Give the system call filter this processor's name."
#endif

#define ALLOW(call) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, call, 0, 1), BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)

/// Allows system calls for reading, writing, memory and time; any other call kills the process.
static bool filter_calls(void) {
  struct sock_filter filter[] = {
    BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, arch)),
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, ARCHITECTURE, 1, 0),
    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
    BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
    ALLOW(__NR_read),
    ALLOW(__NR_write),
    ALLOW(__NR_brk),
    ALLOW(__NR_mmap),
    ALLOW(__NR_munmap),
    ALLOW(__NR_mremap),
    ALLOW(__NR_madvise),
    ALLOW(__NR_futex),
    ALLOW(__NR_setitimer),
    ALLOW(__NR_rt_sigreturn),
    ALLOW(__NR_restart_syscall),
    ALLOW(__NR_exit),
    ALLOW(__NR_exit_group),
    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
  };
  const struct sock_fprog program = {.len = sizeof filter / sizeof *filter, .filter = filter};
  return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

bool sandbox_enter(void) {
  // Close all descriptors except standard input and output, including standard error and any that the parent left open.
  const long most = sysconf(_SC_OPEN_MAX);
  if (syscall(SYS_close_range, STDERR_FILENO, ~0u, 0) != 0) {
    for (long descriptor = STDERR_FILENO; descriptor < most && descriptor < 65536; descriptor++) (void)close((int)descriptor);
  }
  // Images are large, and larger pipes need fewer switches between the processes. If the system refuses, the size
  // doesn't change.
  (void)fcntl(STDIN_FILENO, F_SETPIPE_SZ, 1 << 20);
  (void)fcntl(STDOUT_FILENO, F_SETPIPE_SZ, 1 << 20);
  // If the parent is gone, make the write fail instead of raising a signal, so that the process ends normally.
  signal(SIGPIPE, SIG_IGN);
  // End this process with its parent, even in the middle of an image.
  (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
  return limit(RLIMIT_AS, memory + image_shared_length()) && limit(RLIMIT_CPU, processor) && limit(RLIMIT_CORE, 0)
      && limit(RLIMIT_NOFILE, 2) && limit(RLIMIT_NPROC, 0) && prctl(PR_SET_DUMPABLE, 0) == 0 && prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0
      && filter_calls();
}

void sandbox_allow_seconds(unsigned seconds) {
  // SIGPROF terminates the process. It counts processor time, so a busy machine doesn't matter.
  const struct itimerval time = {.it_value = {.tv_sec = seconds}};
  (void)setitimer(ITIMER_PROF, &time, NULL);
}
