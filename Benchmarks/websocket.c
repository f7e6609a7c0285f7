// An echo server of WebSocket on libwslay and epoll, and a client that loads any such server.
//
//   websocket serve                                  prints its port
//   websocket load <port> <connections> <each> <bytes> <depth>   echoes <each> messages on every connection, <depth> on their way
//   websocket idle <port> <connections>                  opens so many, prints "open", waits for the end of its input
//
// cc -O2 -D_GNU_SOURCE -o websocket websocket.c -lwslay -lcrypto
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <openssl/evp.h>
#include <openssl/sha.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>
#include <wslay/wslay.h>

struct peer {
  int fd, is_open, is_armed;
  size_t head;
  char text[4096];
  wslay_event_context_ptr context;
};

static int poller;

static ssize_t receive(wslay_event_context_ptr context, uint8_t *room, size_t count, int flags, void *user) {
  (void)flags;
  ssize_t got = recv(((struct peer *)user)->fd, room, count, 0);
  if (got > 0) return got;
  wslay_event_set_error(context, got < 0 && errno == EAGAIN ? WSLAY_ERR_WOULDBLOCK : WSLAY_ERR_CALLBACK_FAILURE);
  return -1;
}

static ssize_t deliver(wslay_event_context_ptr context, const uint8_t *data, size_t count, int flags, void *user) {
  ssize_t sent = send(((struct peer *)user)->fd, data, count, MSG_NOSIGNAL | (flags & WSLAY_MSG_MORE ? MSG_MORE : 0));
  if (sent >= 0) return sent;
  wslay_event_set_error(context, errno == EAGAIN ? WSLAY_ERR_WOULDBLOCK : WSLAY_ERR_CALLBACK_FAILURE);
  return -1;
}

static void echo(wslay_event_context_ptr context, const struct wslay_event_on_msg_recv_arg *got, void *user) {
  (void)user;
  if (wslay_is_ctrl_frame(got->opcode)) return;
  struct wslay_event_msg message = {got->opcode, got->msg, got->msg_length};
  wslay_event_queue_msg(context, &message);
}

static void drop(struct peer *peer) {
  close(peer->fd);
  if (peer->context) wslay_event_context_free(peer->context);
  free(peer);
}

static int upgrade(struct peer *peer) {
  ssize_t got = recv(peer->fd, peer->text + peer->head, sizeof peer->text - 1 - peer->head, 0);
  if (got <= 0) return -1;
  peer->text[peer->head += (size_t)got] = 0;
  if (!strstr(peer->text, "\r\n\r\n")) return 0;
  char *key = strcasestr(peer->text, "sec-websocket-key: ");
  if (!key) return -1;
  char joined[64];
  unsigned char digest[20];
  snprintf(joined, sizeof joined, "%.24s258EAFA5-E914-47DA-95CA-C5AB0DC85B11", key + 19);
  SHA1((unsigned char *)joined, 60, digest);
  char accept[32], answer[256];
  EVP_EncodeBlock((unsigned char *)accept, digest, 20);
  int count = snprintf(
    answer, sizeof answer,
    "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: %s\r\n\r\n",
    accept);
  if (send(peer->fd, answer, (size_t)count, MSG_NOSIGNAL) != count) return -1;
  struct wslay_event_callbacks calls = {.recv_callback = receive, .send_callback = deliver, .on_msg_recv_callback = echo};
  wslay_event_context_server_init(&peer->context, &calls, peer);
  wslay_event_config_set_max_recv_msg_length(peer->context, 64 << 20);
  peer->is_open = 1;
  return 0;
}

static int serve(void) {
  int listener = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
  struct sockaddr_in place = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  socklen_t size = sizeof place;
  bind(listener, (struct sockaddr *)&place, size);
  listen(listener, 511);
  getsockname(listener, (struct sockaddr *)&place, &size);
  printf("ws://127.0.0.1:%d/\n", ntohs(place.sin_port));
  fflush(stdout);
  poller = epoll_create1(0);
  struct epoll_event event = {.events = EPOLLIN, .data.ptr = NULL}, events[256];
  epoll_ctl(poller, EPOLL_CTL_ADD, listener, &event);
  for (;;) {
    int count = epoll_wait(poller, events, 256, -1);
    for (int i = 0; i < count; i++) {
      struct peer *peer = events[i].data.ptr;
      if (!peer) {
        int fd;
        while ((fd = accept4(listener, NULL, NULL, SOCK_NONBLOCK)) >= 0) {
          int on = 1;
          setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
          peer = calloc(1, sizeof *peer);
          peer->fd = fd;
          event.data.ptr = peer;
          epoll_ctl(poller, EPOLL_CTL_ADD, fd, &event);
        }
        continue;
      }
      if (!peer->is_open) {
        if (upgrade(peer) < 0) drop(peer);
        continue;
      }
      if (wslay_event_recv(peer->context) || wslay_event_send(peer->context) || !wslay_event_want_read(peer->context)) {
        drop(peer);
        continue;
      }
      int wants = wslay_event_want_write(peer->context) ? 1 : 0;
      if (wants != peer->is_armed) {
        struct epoll_event changed = {.events = EPOLLIN | (wants ? EPOLLOUT : 0), .data.ptr = peer};
        epoll_ctl(poller, EPOLL_CTL_MOD, peer->fd, &changed);
        peer->is_armed = wants;
      }
    }
  }
  return 1;
}

static int open_one(int port) {
  int fd = socket(AF_INET, SOCK_STREAM, 0), on = 1;
  struct sockaddr_in place = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
  place.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (connect(fd, (struct sockaddr *)&place, sizeof place)) return perror("connect"), exit(1), -1;
  setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  const char *text =
    "GET / HTTP/1.1\r\nHost: h\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
    "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n";
  if (write(fd, text, strlen(text)) < 0) exit(1);
  char head[2048];
  size_t got = 0;
  while (got < 4 || memcmp(head + got - 4, "\r\n\r\n", 4)) {
    if (got == sizeof head || read(fd, head + got, 1) != 1) fprintf(stderr, "no handshake\n"), exit(1);
    got++;
  }
  if (memcmp(head, "HTTP/1.1 101", 12)) fprintf(stderr, "refused\n"), exit(1);
  return fd;
}

static int load(int port, int connections, long each, size_t bytes, size_t depth) {
  size_t head = bytes < 126 ? 2 : bytes < 65536 ? 4 : 10, frame = head + 4 + bytes, back = head + bytes;
  unsigned char *data = calloc(1, frame * 8);
  for (int i = 0; i < 8; i++) {
    unsigned char *at = data + frame * (size_t)i;
    at[0] = 0x82;
    at[1] = (unsigned char)(0x80 | (bytes < 126 ? bytes : bytes < 65536 ? 126 : 127));
    for (size_t k = 2; k < head; k++) at[k] = (unsigned char)(bytes >> (8 * (head - 1 - k)));
    memcpy(at + head, "\x37\xfa\x21\x3d", 4);
    for (size_t k = 0; k < bytes; k++) at[head + 4 + k] = 'x' ^ "\x37\xfa\x21\x3d"[k & 3];
  }
  struct { int fd; size_t out, in; } *all = calloc((size_t)connections, sizeof *all);
  poller = epoll_create1(0);
  for (int i = 0; i < connections; i++) {
    all[i].fd = open_one(port);
    fcntl(all[i].fd, F_SETFL, O_NONBLOCK);
    struct epoll_event event = {.events = EPOLLIN | EPOLLOUT, .data.u32 = (unsigned)i};
    epoll_ctl(poller, EPOLL_CTL_ADD, all[i].fd, &event);
  }
  static char sink[1 << 18];
  int left = connections;
  while (left > 0) {
    struct epoll_event events[64];
    int count = epoll_wait(poller, events, 64, -1);
    for (int i = 0; i < count; i++) {
      unsigned index = events[i].data.u32;
      ssize_t got;
      while ((got = read(all[index].fd, sink, sizeof sink)) > 0) all[index].in += (size_t)got;
      if (got == 0) fprintf(stderr, "closed\n"), exit(1);
      if (all[index].in == back * (size_t)each) {
        epoll_ctl(poller, EPOLL_CTL_DEL, all[index].fd, NULL);
        left--;
        continue;
      }
      size_t most = (all[index].in / back + depth) * frame, end = frame * (size_t)each;
      if (most > end) most = end;
      while (all[index].out < most) {
        size_t from = all[index].out % (frame * 8), take = frame * 8 - from;
        if (take > most - all[index].out) take = most - all[index].out;
        ssize_t sent = write(all[index].fd, data + from, take);
        if (sent <= 0) break;
        all[index].out += (size_t)sent;
      }
      struct epoll_event event = {.events = EPOLLIN | (all[index].out < most ? EPOLLOUT : 0), .data.u32 = index};
      epoll_ctl(poller, EPOLL_CTL_MOD, all[index].fd, &event);
    }
  }
  return 0;
}

int main(int count, char **words) {
  if (count == 2 && !strcmp(words[1], "serve")) return serve();
  if (count == 7 && !strcmp(words[1], "load"))
    return load(atoi(words[2]), atoi(words[3]), atol(words[4]), (size_t)atol(words[5]), (size_t)atol(words[6]));
  if (count == 4 && !strcmp(words[1], "idle")) {
    for (int i = atoi(words[3]); i > 0; i--) open_one(atoi(words[2]));
    puts("open");
    fflush(stdout);
    while (getchar() != EOF) {}
    return 0;
  }
  return 64;
}
