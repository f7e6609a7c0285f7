// A simulated internet: an origin behind every address of 127/8, whose feeds have ten tempers. See Benchmarks/million.
//
//   internet <port>   serves until it is ended
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { MOST = 20000, ROOM = 4096 };

struct client {
  int used, length, path;
  double answer;  // when, in seconds; 0 for nothing that waits
  char text[ROOM];
};
static struct client *clients;
static long asked;

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec + time.tv_nsec / 1e9;
}

static void end(int socket) {
  clients[socket].used = 0;
  close(socket);
}

// A host's temper is the last digit of its rank; the large ones can all be read, since one that asks for a pause is late by its own wish.
static int temper_of(const char *request) {
  int a = 1, b = 0, c = 0;
  const char *host = strcasestr(request, "\r\nHost: 127.");
  if (host) sscanf(host + 12, "%d.%d.%d", &a, &b, &c);
  int rank = (a - 1) << 16 | b << 8 | c;
  return rank < 10000 ? rank % 4 : rank % 10;
}

// What is new comes at every poll.
static void answer(int socket) {
  struct client *client = &clients[socket];
  char head[512], body[2048];
  int validators = strcasestr(client->text, "\r\nIf-None-Match:") != NULL, temper = temper_of(client->text), cut = 0;
  const char *status = "200 OK", *more = "";
  long version = temper == 1 ? ++asked : temper == 2 ? (long)(now() / 3600) : 0;
  int size = sprintf(body,
                     "{\"version\":\"https://jsonfeed.org/version/1.1\",\"title\":\"%d\",\"items\":["
                     "{\"id\":\"%d/%ld\",\"content_text\":\"Something new\",\"image\":\"https://images.example/%d/%ld.jpg\"}]}",
                     client->path, client->path, version, client->path, version);
  switch (temper) {
    case 3: more = "Cache-Control: max-age=600\r\n"; break;
    case 4: status = "404 Not Found", size = 0; break;
    case 5: status = "429 Too Many Requests", more = "Retry-After: 120\r\n", size = 0; break;
    case 6: status = "503 Service Unavailable", size = 0; break;
    case 7: cut = 1; break;
    default: if (validators && temper != 1) status = "304 Not Modified", size = 0; break;
  }
  int not = !strncmp(status, "304", 3);
  int length = sprintf(head, "HTTP/1.1 %s\r\nETag: \"%d-%ld\"\r\n%s", status, client->path, version, more);
  if (!not) length += sprintf(head + length, "Content-Type: application/feed+json\r\nContent-Length: %d\r\n", size);
  length += sprintf(head + length, "\r\n");
  char whole[3072];
  memcpy(whole, head, length);
  memcpy(whole + length, body, size);
  if (send(socket, whole, length + (cut ? size / 2 : size), MSG_NOSIGNAL) < 0 || cut) return end(socket);
  client->length = 0, client->answer = 0;
}

static void take(int socket) {
  struct client *client = &clients[socket];
  ssize_t got = recv(socket, client->text + client->length, ROOM - 1 - client->length, MSG_DONTWAIT);
  if (got <= 0) return end(socket);
  client->length += got;
  client->text[client->length] = 0;
  if (!strstr(client->text, "\r\n\r\n") || client->answer) return;
  client->path = 0;
  sscanf(client->text, "GET /%d", &client->path);
  // Some take a while, and one in ten a second and a half.
  client->answer = now() + (temper_of(client->text) == 8 ? 1.5 : 0.02 * (client->path % 7));
}

int main(int count, char **words) {
  if (count != 2) return 2;
  signal(SIGPIPE, SIG_IGN);
  clients = calloc(MOST, sizeof *clients);
  int server = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), yes = 1, poll = epoll_create1(0);
  setsockopt(server, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(atoi(words[1]))};
  if (bind(server, (struct sockaddr *)&address, sizeof address) || listen(server, 4096)) {
    perror("bind");
    return 1;
  }
  struct epoll_event event = {.events = EPOLLIN, .data.fd = server};
  epoll_ctl(poll, EPOLL_CTL_ADD, server, &event);
  int highest = 0;
  for (;;) {
    struct epoll_event events[256];
    int ready = epoll_wait(poll, events, 256, 10);
    for (int i = 0; i < ready; i++) {
      int one = events[i].data.fd;
      if (one != server) {
        take(one);
        continue;
      }
      int client = accept4(server, NULL, NULL, SOCK_CLOEXEC);
      if (client < 0) continue;
      if (client >= MOST) {
        close(client);
        continue;
      }
      clients[client] = (struct client){.used = 1};
      if (client > highest) highest = client;
      event = (struct epoll_event){.events = EPOLLIN, .data.fd = client};
      epoll_ctl(poll, EPOLL_CTL_ADD, client, &event);
    }
    double time = now();
    for (int one = 0; one <= highest; one++)
      if (clients[one].used && clients[one].answer && clients[one].answer <= time) answer(one);
  }
}
