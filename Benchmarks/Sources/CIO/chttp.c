#include "cio.h"
#include "shared.h"
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>
#include <uv.h>

// The server: one route, a parser of its own, answers tried immediately.

typedef struct {
  uv_tcp_t stream;
  size_t kept;
  char bytes[8192];
} visitor_t;

static const char page[] =
  "<!doctype html><title>Small</title><p>This page has about as many bytes as a small answer of an application has: a title, a "
  "paragraph, and nothing else. It is sent with a length, a type and a date, as any other page would be, over a kept "
  "connection.</p>\n";

static const char *date(void) {
  static time_t then;
  static char text[64];
  time_t now = time(NULL);
  if (now != then) {
    struct tm parts;
    then = now;
    gmtime_r(&now, &parts);
    strftime(text, sizeof text, "%a, %d %b %Y %H:%M:%S GMT", &parts);
  }
  return text;
}

/// Reads a head. Returns its length, 0 when it is not complete, -1 when it is none.
static long read_head(const char *start, size_t count, int *found) {
  const char *end = start + count, *line = memchr(start, '\n', count);
  if (!line) return 0;
  if (line == start || line[-1] != '\r' || strncmp(start, "GET ", 4)) return -1;
  const char *target = start + 4, *behind = memchr(target, ' ', line - target);
  if (!behind || strncmp(behind, " HTTP/1.1\r", 10)) return -1;
  *found = behind - target == 1 && *target == '/';
  int hosts = 0;
  for (line++;;) {
    const char *next = memchr(line, '\n', end - line);
    if (!next) return 0;
    if (next == line || next[-1] != '\r') return -1;
    if (next == line + 1) return hosts == 1 ? next + 1 - start : -1;
    const char *colon = memchr(line, ':', next - line);
    if (!colon) return -1;
    for (const char *at = line; at < colon; at++)
      if (*at <= ' ' || *at == 127) return -1;
    for (const char *at = colon + 1; at < next - 1; at++)
      if ((unsigned char)*at < ' ' && *at != '\t') return -1;
    if (colon - line == 4 && !strncasecmp(line, "host", 4)) hosts++;
    if (colon - line == 14 && !strncasecmp(line, "content-length", 14)) return -1;
    if (colon - line == 17 && !strncasecmp(line, "transfer-encoding", 17)) return -1;
    line = next + 1;
  }
}

static void asked(uv_stream_t *stream, ssize_t count, const uv_buf_t *buffer) {
  visitor_t *visitor = (visitor_t *)stream;
  if (count < 0) return uv_close((uv_handle_t *)stream, release);
  const char *start = buffer->base;
  if (visitor->kept) {
    if (visitor->kept + count > sizeof visitor->bytes) return uv_close((uv_handle_t *)stream, release);
    memcpy(visitor->bytes + visitor->kept, start, count);
    start = visitor->bytes;
    count += visitor->kept;
  }
  char answer[1024];
  while (count > 0) {
    int found = 0;
    long length = read_head(start, count, &found);
    if (length < 0) return uv_close((uv_handle_t *)stream, release);
    if (length == 0) break;
    int size = snprintf(
      answer, sizeof answer,
      "HTTP/1.1 %s\r\nContent-Type: text/html; charset=utf-8\r\nDate: %s\r\nContent-Length: %zu\r\n\r\n%s",
      found ? "200 OK" : "404 Not Found", date(), found ? sizeof page - 1 : 0, found ? page : "");
    uv_buf_t out = uv_buf_init(answer, size);
    if (uv_try_write(stream, &out, 1) != size) return uv_close((uv_handle_t *)stream, release);
    start += length;
    count -= length;
  }
  memmove(visitor->bytes, start, count);
  visitor->kept = count;
}

static void accepted(uv_stream_t *server, int status) {
  visitor_t *visitor = malloc(sizeof *visitor);
  visitor->kept = 0;
  check(uv_tcp_init(&io_loop, &visitor->stream));
  check(uv_accept(server, (uv_stream_t *)visitor));
  check(uv_read_start((uv_stream_t *)visitor, allocate, asked));
}

void c_http_server(int descriptor) { serve(descriptor, accepted); }

const char *c_http_page(void) { return page; }

// The clients

static int connect_to(int port) { return c_connect(port, NULL); }

static void ask(int descriptor, const char *text) {
  if (write(descriptor, text, strlen(text)) != (ssize_t)strlen(text)) {
    perror("io: ask");
    abort();
  }
}

static const char request[] =
  "GET / HTTP/1.1\r\nHost: localhost\r\nUser-Agent: io\r\nAccept: text/html\r\nAccept-Language: en\r\n\r\n";

/// Reads a whole answer, and returns its length.
static int hear(int descriptor, char *bytes, int size) {
  int used = 0;
  for (;;) {
    ssize_t count = read(descriptor, bytes + used, size - 1 - used);
    if (count <= 0) {
      perror("io: hear");
      abort();
    }
    used += count;
    bytes[used] = 0;
    char *end = strstr(bytes, "\r\n\r\n"), *length = strcasestr(bytes, "Content-Length:");
    if (end && length && used >= end + 4 - bytes + atoi(length + 15)) return used;
  }
}

double c_http_client(int port, int connections, long requests) {
  int queue = epoll_create1(EPOLL_CLOEXEC);
  int *sockets = malloc(connections * sizeof *sockets);
  char bytes[4096];
  for (int i = 0; i < connections; i++) {
    sockets[i] = connect_to(port);
    struct epoll_event event = {.events = EPOLLIN, .data.fd = sockets[i]};
    epoll_ctl(queue, EPOLL_CTL_ADD, sockets[i], &event);
  }
  uint64_t begun = uv_hrtime();
  long asked = 0, heard = 0;
  for (; asked < connections; asked++) ask(sockets[asked], request);
  while (heard < requests) {
    struct epoll_event events[64];
    int count = epoll_wait(queue, events, 64, -1);
    for (int i = 0; i < count; i++) {
      hear(events[i].data.fd, bytes, sizeof bytes);
      heard++;
      if (asked++ < requests) ask(events[i].data.fd, request);
    }
  }
  double seconds = (uv_hrtime() - begun) / 1e9;
  for (int i = 0; i < connections; i++) close(sockets[i]);
  close(queue);
  free(sockets);
  return seconds;
}

static int *held;
static int held_count;

void c_http_hold(int port, int connections) {
  char bytes[4096];
  held = malloc(connections * sizeof *held);
  held_count = connections;
  for (int i = 0; i < connections; i++) {
    held[i] = connect_to(port);
    ask(held[i], request);
    hear(held[i], bytes, sizeof bytes);
  }
}

void c_http_release(void) {
  for (int i = 0; i < held_count; i++) close(held[i]);
  free(held);
  held = NULL;
}

// Event streams

static int *streams;
static int stream_count, still_count, event_queue;

void c_events_open(int port, int clients, int still) {
  streams = malloc(clients * sizeof *streams);
  stream_count = clients;
  still_count = still;
  event_queue = epoll_create1(EPOLL_CLOEXEC);
  for (int i = 0; i < clients; i++) {
    struct sockaddr_in address;
    check(uv_ip4_addr("127.0.0.1", port, &address));
    streams[i] = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    int little = 4096;
    if (i < still) setsockopt(streams[i], SOL_SOCKET, SO_RCVBUF, &little, sizeof little);
    if (streams[i] < 0 || connect(streams[i], (struct sockaddr *)&address, sizeof address)) {
      perror("io: connect");
      abort();
    }
    ask(streams[i], "GET /events HTTP/1.1\r\nHost: localhost\r\nAccept: text/event-stream\r\n\r\n");
    char bytes[4096] = "";
    int used = 0;
    while (!strstr(bytes, "hello")) {
      ssize_t count = read(streams[i], bytes + used, sizeof bytes - 1 - used);
      if (count <= 0) abort();
      used += count;
      bytes[used] = 0;
    }
    if (i < still) continue;
    struct epoll_event event = {.events = EPOLLIN, .data.fd = i};
    epoll_ctl(event_queue, EPOLL_CTL_ADD, streams[i], &event);
  }
}

double c_events_send(int port, int size) {
  int speaker = connect_to(port);
  char *text = malloc(size + 256);
  int head = sprintf(text, "POST /say HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Length: %d\r\n\r\n", size);
  memset(text + head, 'x', size);
  text[head + size - 1] = '!';
  uint64_t begun = uv_hrtime();
  if (write(speaker, text, head + size) != head + size) abort();
  static char bytes[65536];
  // An event is over with its exclamation mark: nothing else has one.
  int missing = stream_count - still_count;
  while (missing > 0) {
    struct epoll_event events[256];
    int count = epoll_wait(event_queue, events, 256, 10000);
    if (count <= 0) {
      fprintf(stderr, "io: %d clients were not told\n", missing);
      abort();
    }
    for (int i = 0; i < count; i++) {
      ssize_t length = read(streams[events[i].data.fd], bytes, sizeof bytes);
      if (length <= 0) abort();
      if (memchr(bytes, '!', length)) missing--;
    }
  }
  double seconds = (uv_hrtime() - begun) / 1e9;
  close(speaker);
  free(text);
  return seconds;
}

void c_events_close(void) {
  for (int i = 0; i < stream_count; i++) close(streams[i]);
  close(event_queue);
  free(streams);
}

long c_read_slowly(int port, long bytes_per_second, double seconds) {
  int descriptor = connect_to(port);
  ask(descriptor, "GET /endless HTTP/1.1\r\nHost: localhost\r\n\r\n");
  static char bytes[65536];
  uint64_t begun = uv_hrtime();
  long total = 0;
  while ((uv_hrtime() - begun) / 1e9 < seconds) {
    ssize_t count = read(descriptor, bytes, sizeof bytes);
    if (count <= 0) abort();
    total += count;
    double due = total / (double)bytes_per_second, now = (uv_hrtime() - begun) / 1e9;
    if (due > now) usleep((due - now) * 1e6);
  }
  close(descriptor);
  return total;
}
