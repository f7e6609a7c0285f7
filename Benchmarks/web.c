// What Benchmarks/web measures its servers and client with.
//
//   web sink                                     a server that throws uploads away; prints its port
//   web put <url> <file>                         uploads a file with libcurl
//   web crowd                                    a server that sends each message to all its clients; prints its port
//   web echo <port> <bytes> <count> [deflate]    echoes messages of text, one after another; prints seconds
//   web room <port> <clients> <times>            one message to all, each of whom reads it; prints the seconds of each
//
// cc -O2 -D_GNU_SOURCE -o web web.c -lcurl -lz
#include <curl/curl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>
#include <zlib.h>

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static void fail(const char *what) {
  perror(what);
  exit(1);
}

/// Listens at a port that the system chooses, and prints it.
static int listen_somewhere(void) {
  int listener = socket(AF_INET, SOCK_STREAM, 0);
  struct sockaddr_in place = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  socklen_t size = sizeof place;
  if (bind(listener, (struct sockaddr *)&place, size) || listen(listener, 128)) fail("listen");
  getsockname(listener, (struct sockaddr *)&place, &size);
  printf("%d\n", ntohs(place.sin_port));
  fflush(stdout);
  return listener;
}

static int sink(void) {
  int listener = listen_somewhere();
  static char room[1 << 18];
  for (int fd; (fd = accept(listener, NULL, NULL)) >= 0; close(fd)) {
    size_t used = 0;
    char *end = NULL;
    for (ssize_t got; !end && used < sizeof room - 1 && (got = read(fd, room + used, sizeof room - 1 - used)) > 0;) {
      room[used += (size_t)got] = 0;
      end = strstr(room, "\r\n\r\n");
    }
    char *length = end ? strcasestr(room, "content-length:") : NULL;
    if (!length) continue;
    if (strcasestr(room, "100-continue") && write(fd, "HTTP/1.1 100 Continue\r\n\r\n", 25) != 25) continue;
    long long left = atoll(length + 15) - (long long)(room + used - end - 4);
    for (ssize_t got; left > 0 && (got = read(fd, room, sizeof room)) > 0;) left -= got;
    const char answer[] = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
    if (left || write(fd, answer, sizeof answer - 1) < 0) fprintf(stderr, "cut short\n");
  }
  return 1;
}

/// One call of `write` for each client and message, and nothing else: the least that a server does.
static int crowd(void) {
  int listener = listen_somewhere(), poller = epoll_create1(0), count = 0;
  static int members[20001];
  struct epoll_event event = {.events = EPOLLIN, .data.fd = listener};
  epoll_ctl(poller, EPOLL_CTL_ADD, listener, &event);
  for (;;) {
    struct epoll_event events[64];
    int ready = epoll_wait(poller, events, 64, -1);
    for (int k = 0; k < ready; k++) {
      static unsigned char in[4096], out[256];
      int fd = events[k].data.fd;
      if (fd == listener) {
        event.data.fd = accept(listener, NULL, NULL);
        if (event.data.fd < 0 || count == 20001) fail("accept");
        members[count++] = event.data.fd;
        epoll_ctl(poller, EPOLL_CTL_ADD, event.data.fd, &event);
        continue;
      }
      ssize_t got = read(fd, in, sizeof in);
      if (got <= 0) return 0;
      if (in[0] == 'G') {
        const char agreed[] = "HTTP/1.1 101 Switching Protocols\r\n\r\n";
        if (write(fd, agreed, sizeof agreed - 1) < 0) fail("agree");
        continue;
      }
      // A short frame with a mask.
      size_t length = in[1] & 127;
      out[0] = in[0], out[1] = (unsigned char)length;
      for (size_t at = 0; at < length; at++) out[2 + at] = in[6 + at] ^ in[2 + (at & 3)];
      for (int i = 0; i < count; i++)
        if (write(members[i], out, 2 + length) < 0) fail("tell");
    }
  }
}

static int put(const char *url, const char *path) {
  FILE *file = fopen(path, "rb");
  CURL *easy = curl_easy_init();
  if (!file || !easy) fail(path);
  fseek(file, 0, SEEK_END);
  curl_easy_setopt(easy, CURLOPT_URL, url);
  curl_easy_setopt(easy, CURLOPT_UPLOAD, 1L);
  curl_easy_setopt(easy, CURLOPT_READDATA, file);
  curl_easy_setopt(easy, CURLOPT_INFILESIZE_LARGE, (curl_off_t)ftell(file));
  rewind(file);
  return curl_easy_perform(easy);
}

static int open_socket(int port, const char *path, const char *fields) {
  int fd = socket(AF_INET, SOCK_STREAM, 0), on = 1;
  struct sockaddr_in place = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
  place.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (connect(fd, (struct sockaddr *)&place, sizeof place)) fail("connect");
  setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  char text[1024], head[2048];
  int count = snprintf(
    text, sizeof text,
    "GET %s HTTP/1.1\r\nHost: h\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
    "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n%s\r\n",
    path, fields);
  if (write(fd, text, (size_t)count) != count) fail("ask");
  size_t got = 0;
  while (got < 4 || memcmp(head + got - 4, "\r\n\r\n", 4)) {
    if (got == sizeof head || read(fd, head + got, 1) != 1) fail("handshake");
    got++;
  }
  if (memcmp(head, "HTTP/1.1 101", 12)) fail("refused");
  if (*fields && !memmem(head, got, "permessage-deflate", 18)) fail("no compression");
  return fd;
}

/// A masked frame of text. Returns its length.
static size_t frame(unsigned char *out, const unsigned char *data, size_t count, int is_compressed) {
  size_t head = count < 126 ? 2 : 4;
  out[0] = (unsigned char)(0x81 | (is_compressed ? 0x40 : 0));
  out[1] = (unsigned char)(0x80 | (count < 126 ? count : 126));
  if (head == 4) out[2] = (unsigned char)(count >> 8), out[3] = (unsigned char)count;
  memcpy(out + head, "\x37\xfa\x21\x3d", 4);
  for (size_t k = 0; k < count; k++) out[head + 4 + k] = data[k] ^ out[head + (k & 3)];
  return head + 4 + count;
}

/// Reads a frame. Returns the bytes of its content.
static size_t hear(int fd, unsigned char *room, size_t size) {
  size_t used = 0, whole = 2, head = 2;
  while (used < whole) {
    ssize_t got = read(fd, room + used, size - used);
    if (got <= 0) fail("closed");
    used += (size_t)got;
    if (used < 4) continue;
    head = room[1] < 126 ? 2 : 4;
    whole = head + (head == 2 ? room[1] : (size_t)room[2] << 8 | room[3]);
  }
  return whole - head;
}

static int echo(int port, size_t bytes, long count, int is_compressed) {
  static unsigned char text[1 << 16], packed[1 << 16], out[1 << 17], room[1 << 17];
  // As programs write it.
  for (size_t at = 0, k = 0; at < bytes; k++)
    at += (size_t)snprintf((char *)text + at, sizeof text - at, "{\"id\":%zu,\"price\":%zu.25,\"name\":\"item %zu\"},", k * 7919 % 1000, k * 31 % 97, k);
  unsigned char *sent = text;
  size_t length = bytes;
  if (is_compressed) {
    z_stream stream = {.next_in = text, .avail_in = (unsigned)bytes, .next_out = packed, .avail_out = sizeof packed};
    deflateInit2(&stream, 6, Z_DEFLATED, -15, 8, Z_DEFAULT_STRATEGY);
    deflate(&stream, Z_SYNC_FLUSH);
    // Without the four bytes that both sides know.
    sent = packed, length = sizeof packed - stream.avail_out - 4;
  }
  int fd = open_socket(
    port, "/echo",
    is_compressed ? "Sec-WebSocket-Extensions: permessage-deflate; client_no_context_takeover; server_no_context_takeover\r\n" : "");
  size_t size = frame(out, sent, length, is_compressed), back = 0;
  double begun = now();
  for (long i = 0; i < count; i++) {
    if (write(fd, out, size) != (ssize_t)size) fail("write");
    back = hear(fd, room, sizeof room);
  }
  printf("%f %zu %zu\n", now() - begun, length, back);
  return 0;
}

static int room(int port, int clients, int times) {
  int *fds = malloc((size_t)clients * sizeof *fds), poller = epoll_create1(0);
  for (int i = 0; i < clients; i++) {
    fds[i] = open_socket(port, "/room", "");
    struct epoll_event event = {.events = EPOLLIN, .data.fd = fds[i]};
    epoll_ctl(poller, EPOLL_CTL_ADD, fds[i], &event);
  }
  static unsigned char text[100], out[256], in[4096];
  memset(text, 'x', sizeof text);
  size_t size = frame(out, text, sizeof text, 0);
  int speaker = open_socket(port, "/room", "");
  for (int i = 0; i < times; i++) {
    double begun = now();
    if (write(speaker, out, size) != (ssize_t)size) fail("write");
    for (int left = clients; left > 0;) {
      struct epoll_event events[256];
      int count = epoll_wait(poller, events, 256, 10000);
      if (count <= 0) fail("not told");
      for (int k = 0; k < count; k++, left--)
        if (read(events[k].data.fd, in, sizeof in) != 102) fail("read");
    }
    printf("%f\n", now() - begun);
    hear(speaker, in, sizeof in);
    usleep(200000);
  }
  return 0;
}

int main(int count, char **words) {
  const char *mode = count > 1 ? words[1] : "";
  if (count == 2 && !strcmp(mode, "sink")) return sink();
  if (count == 2 && !strcmp(mode, "crowd")) return crowd();
  if (count == 4 && !strcmp(mode, "put")) return put(words[2], words[3]);
  if (count >= 5 && !strcmp(mode, "echo"))
    return echo(atoi(words[2]), (size_t)atol(words[3]), atol(words[4]), count == 6);
  if (count == 5 && !strcmp(mode, "room")) return room(atoi(words[2]), atoi(words[3]), atoi(words[4]));
  return 64;
}
