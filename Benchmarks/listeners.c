// Clients of event streams, thousands in one process: how late is an update at each? See Benchmarks/gateways.
//
//   listeners <port> <clients> <every> <seconds>   every so manieth client is read immediately, and dates what it is given; the
//                                                  others are emptied when there is nothing else to do, so that reading takes no
//                                                  time from who writes. Prints a line for each dated event: its id and how late
//                                                  it was, in milliseconds
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_REALTIME, &time);
  return time.tv_sec * 1e3 + time.tv_nsec / 1e6;
}

static char buffer[1 << 18];

// The ids of the store are its milliseconds: when the poll was completed.
static void date(char *text, double at) {
  for (char *id = strstr(text, "\nid: "); id; id = strstr(id + 1, "\nid: ")) {
    char *event = strstr(id, "\nevent: ");
    if (event && !strncmp(event, "\nevent: items", 13)) {
      double made = strtod(id + 5, NULL);
      printf("%.0f %.1f\n", made, at - made);
    }
  }
}

static void empty(int client) {
  for (;;) {
    ssize_t count = recv(client, buffer, sizeof buffer, MSG_DONTWAIT);
    if (count == 0 || (count < 0 && errno != EAGAIN)) {
      fprintf(stderr, "a stream ended\n");
      exit(1);
    }
    if (count < 0) return;
  }
}

int main(int count, char **words) {
  if (count != 5) return 2;
  int clients = atoi(words[2]), every = atoi(words[3]), *all = malloc(clients * sizeof *all);
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(atoi(words[1]))};
  inet_pton(AF_INET, "127.0.0.1", &address.sin_addr);
  int poll = epoll_create1(0);
  const char request[] = "GET /events HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n";
  for (int i = 0; i < clients; i++) {
    all[i] = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (all[i] < 0 || connect(all[i], (struct sockaddr *)&address, sizeof address) ||
        send(all[i], request, sizeof request - 1, MSG_NOSIGNAL) < 0) {
      perror("connect");
      return 1;
    }
    // The head and the first event: each is a client from now on.
    ssize_t got = recv(all[i], buffer, sizeof buffer - 1, 0);
    if (got <= 0 || strncmp(buffer, "HTTP/1.1 200", 12)) {
      fprintf(stderr, "client %d: %.*s\n", i, got > 0 ? (int)got : 0, buffer);
      return 1;
    }
    struct epoll_event event = {.events = EPOLLIN, .data.fd = all[i]};
    if (i % every == 0 || i == clients - 1) epoll_ctl(poll, EPOLL_CTL_ADD, all[i], &event);
  }
  fprintf(stderr, "connected\n");
  double end = now() + atof(words[4]) * 1e3;
  while (now() < end) {
    struct epoll_event events[256];
    int ready = epoll_wait(poll, events, 256, 400);
    double at = now();
    for (int i = 0; i < ready; i++) {
      buffer[0] = '\n';
      ssize_t got = recv(events[i].data.fd, buffer + 1, sizeof buffer - 2, MSG_DONTWAIT);
      if (got <= 0) {
        fprintf(stderr, "a stream ended\n");
        return 1;
      }
      buffer[got + 1] = 0;
      date(buffer, at);
    }
    if (ready == 0) for (int i = 0; i < clients; i++) if (i % every && i != clients - 1) empty(all[i]);
  }
  return 0;
}
