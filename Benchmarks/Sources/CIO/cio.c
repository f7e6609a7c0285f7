#include "cio.h"
#include "shared.h"
#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>
#include <uv.h>

// The server: one buffer for all reads, what is read is copied for its write, as every server has to.

typedef struct {
  uv_write_t request;
  char bytes[];
} answer_t;

static void answered(uv_write_t *request, int status) { free(request); }

static void asked(uv_stream_t *stream, ssize_t count, const uv_buf_t *buffer) {
  if (count < 0) return uv_close((uv_handle_t *)stream, release);
  if (count == 0) return;
  answer_t *answer = malloc(sizeof *answer + count);
  memcpy(answer->bytes, buffer->base, count);
  uv_buf_t out = uv_buf_init(answer->bytes, count);
  if (uv_write(&answer->request, stream, &out, 1, answered)) free(answer);
}

static void accepted(uv_stream_t *server, int status) {
  uv_tcp_t *client = malloc(sizeof *client);
  check(uv_tcp_init(&io_loop, client));
  check(uv_accept(server, (uv_stream_t *)client));
  check(uv_read_start((uv_stream_t *)client, allocate, asked));
}

static void accepted_only(uv_stream_t *server, int status);

void c_echo_server(int descriptor) { serve(descriptor, accepted); }
void c_accepting_server(int descriptor) { serve(descriptor, accepted_only); }

// The client, the same for every server

typedef struct {
  uv_tcp_t stream;
  uv_connect_t connecting;
  uv_write_t writing;
  long left;
  int missing;
  int is_sending;
} client_t;

static char *message;
static int message_size;
static uint64_t begun;
static int waiting;

static void send_message(client_t *client);

// The request is libuv's until it has called back, which may be after the whole answer was read: libuv reads on while its
// buffer gets full, and calls back on the next turn. Before both, nothing may be sent, nor the client be freed.
static void go_on(client_t *client) {
  if (client->is_sending || client->missing > 0) return;
  if (--client->left > 0) return send_message(client);
  uv_close((uv_handle_t *)&client->stream, release);
}

static void sent(uv_write_t *request, int status) {
  check(status);
  client_t *client = (client_t *)request->handle;
  client->is_sending = 0;
  go_on(client);
}

static void heard(uv_stream_t *stream, ssize_t count, const uv_buf_t *buffer) {
  client_t *client = (client_t *)stream;
  check((int)count);
  client->missing -= count;
  go_on(client);
}

static void send_message(client_t *client) {
  client->missing = message_size;
  client->is_sending = 1;
  uv_buf_t out = uv_buf_init(message, message_size);
  check(uv_write(&client->writing, (uv_stream_t *)&client->stream, &out, 1, sent));
}

static client_t **clients;
static int client_count;

static void connected(uv_connect_t *request, int status) {
  check(status);
  if (--waiting > 0) return;
  begun = uv_hrtime();
  for (int i = 0; i < client_count; i++) {
    check(uv_read_start((uv_stream_t *)&clients[i]->stream, allocate, heard));
    send_message(clients[i]);
  }
}

double c_echo_client(int port, int connections, int size, long messages) {
  check(uv_loop_init(&io_loop));
  message = calloc(1, size);
  message_size = size;
  waiting = client_count = connections;
  clients = malloc(connections * sizeof *clients);
  struct sockaddr_in address;
  check(uv_ip4_addr("127.0.0.1", port, &address));
  for (int i = 0; i < connections; i++) {
    client_t *client = clients[i] = malloc(sizeof *client);
    client->left = messages / connections;
    check(uv_tcp_init(&io_loop, &client->stream));
    check(uv_tcp_connect(&client->connecting, &client->stream, (struct sockaddr *)&address, connected));
  }
  uv_run(&io_loop, UV_RUN_DEFAULT);
  double seconds = (uv_hrtime() - begun) / 1e9;
  check(uv_loop_close(&io_loop));
  free(clients);
  free(message);
  return seconds;
}

// Accepting

static void accepted_only(uv_stream_t *server, int status) {
  uv_tcp_t *client = malloc(sizeof *client);
  check(uv_tcp_init(&io_loop, client));
  check(uv_accept(server, (uv_stream_t *)client));
  uv_close((uv_handle_t *)client, release);
}

static int is_stopped(int process) {
  char path[64], text[512] = "";
  snprintf(path, sizeof path, "/proc/%d/stat", process);
  FILE *file = fopen(path, "r");
  if (!file) abort();
  size_t count = fread(text, 1, sizeof text - 1, file);
  fclose(file);
  text[count] = 0;
  char *state = strrchr(text, ')');
  return state && state[1] && state[2] == 'T';
}

double c_accept(int port, int process, int batch, int batches) {
  struct sockaddr_in address;
  check(uv_ip4_addr("127.0.0.1", port, &address));
  int *sockets = malloc(batch * sizeof *sockets);
  uint64_t took = 0;
  for (int round = 0; round < batches; round++) {
    // The backlog is full when the server goes on: the client has done its part.
    kill(process, SIGSTOP);
    while (!is_stopped(process)) usleep(100);
    for (int i = 0; i < batch; i++) {
      sockets[i] = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
      if (sockets[i] < 0 || connect(sockets[i], (struct sockaddr *)&address, sizeof address)) {
        perror("io: connect");
        abort();
      }
    }
    char byte;
    uint64_t begun = uv_hrtime();
    kill(process, SIGCONT);
    for (int i = 0; i < batch; i++)
      if (read(sockets[i], &byte, 1) != 0) abort();
    took += uv_hrtime() - begun;
    for (int i = 0; i < batch; i++) close(sockets[i]);
  }
  free(sockets);
  return took / 1e9;
}

// A file

static struct {
  uv_file file;
  uv_fs_t request;
  char *room;
  int64_t offset;
  long lines, bytes, carried;
} reading;

static void read_next(void);

static void __attribute__((noinline)) line(const char *start, size_t length) {
  reading.lines++;
  reading.bytes += length;
  __asm__ volatile("" ::"r"(start) : "memory");
}

static void has_read(uv_fs_t *request) {
  long count = request->result;
  uv_fs_req_cleanup(request);
  check((int)count);
  if (count == 0) {
    if (reading.carried) line(reading.room, reading.carried);
    return;
  }
  reading.offset += count;
  char *place = reading.room, *end = place + reading.carried + count, *found;
  while ((found = memchr(place, '\n', end - place))) {
    line(place, found - place);
    place = found + 1;
  }
  reading.carried = end - place;
  memmove(reading.room, place, reading.carried);
  read_next();
}

static void read_next(void) {
  uv_buf_t buffer = uv_buf_init(reading.room + reading.carried, 262144);
  check(uv_fs_read(&io_loop, &reading.request, reading.file, &buffer, 1, reading.offset, has_read));
}

long c_count_lines(const char *path, long *bytes) {
  check(uv_loop_init(&io_loop));
  memset(&reading, 0, sizeof reading);
  reading.room = malloc(262144 * 2);
  reading.file = open(path, O_RDONLY);
  read_next();
  uv_run(&io_loop, UV_RUN_DEFAULT);
  check(uv_loop_close(&io_loop));
  close(reading.file);
  free(reading.room);
  *bytes = reading.bytes;
  return reading.lines;
}

// Programs

typedef struct {
  uv_process_t process;
  uv_pipe_t *output;
} child_t;

static long spawns_left;
static const char *spawn_path;

static void spawn_next(void);

static void reaped(uv_handle_t *handle) {
  free(handle);
  spawn_next();
}

static void exited(uv_process_t *process, int64_t status, int signal) { uv_close((uv_handle_t *)process, reaped); }

static void said(uv_stream_t *stream, ssize_t count, const uv_buf_t *buffer) {
  if (count < 0) uv_close((uv_handle_t *)stream, release);
}

static void spawn_next(void) {
  if (spawns_left == 0) return;
  spawns_left--;
  child_t *child = malloc(sizeof *child);
  child->output = malloc(sizeof *child->output);
  check(uv_pipe_init(&io_loop, child->output, 0));
  int none = open("/dev/null", O_RDWR | O_CLOEXEC);
  uv_stdio_container_t streams[3];
  streams[0].flags = UV_INHERIT_FD;
  streams[0].data.fd = none;
  streams[1].flags = UV_CREATE_PIPE | UV_WRITABLE_PIPE;
  streams[1].data.stream = (uv_stream_t *)child->output;
  streams[2].flags = UV_INHERIT_FD;
  streams[2].data.fd = 2;
  char *arguments[] = {"true", NULL};
  uv_process_options_t options = {
    .exit_cb = exited, .file = spawn_path, .args = arguments, .stdio = streams, .stdio_count = 3};
  check(uv_spawn(&io_loop, &child->process, &options));
  close(none);
  check(uv_read_start((uv_stream_t *)child->output, allocate, said));
}

void c_spawn(const char *path, long count) {
  check(uv_loop_init(&io_loop));
  spawns_left = count;
  spawn_path = path;
  for (int i = 0; i < 4; i++) spawn_next();
  uv_run(&io_loop, UV_RUN_DEFAULT);
  check(uv_loop_close(&io_loop));
}

// Others that write

int c_connect(int port, const char *path) {
  union {
    struct sockaddr any;
    struct sockaddr_in internet;
    struct sockaddr_un unix_socket;
  } address = {0};
  if (port) {
    check(uv_ip4_addr("127.0.0.1", port, &address.internet));
  } else {
    address.unix_socket.sun_family = AF_UNIX;
    snprintf(address.unix_socket.sun_path, sizeof address.unix_socket.sun_path, "%s", path);
  }
  int descriptor = socket(address.any.sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
  socklen_t length = port ? sizeof address.internet : sizeof address.unix_socket;
  if (descriptor < 0 || connect(descriptor, &address.any, length)) {
    perror("io: connect");
    abort();
  }
  return descriptor;
}

_Bool c_can_connect(int port) {
  struct sockaddr_in address;
  check(uv_ip4_addr("127.0.0.1", port, &address));
  int descriptor = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  int code = connect(descriptor, (struct sockaddr *)&address, sizeof address);
  close(descriptor);
  return code == 0;
}

void c_send_datagram(int port, int size) {
  static int descriptor = -1;
  static char bytes[65536];
  struct sockaddr_in address;
  check(uv_ip4_addr("127.0.0.1", port, &address));
  if (descriptor < 0) descriptor = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  sendto(descriptor, bytes, size, 0, (struct sockaddr *)&address, sizeof address);
}
