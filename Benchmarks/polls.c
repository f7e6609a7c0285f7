// A server of feeds that do not change, and the same conditional requests from libcurl in C: what a poll of `feed watch` is
// compared with. See Benchmarks/polling.
//
//   polls measure <polls> <command>…   serves on 127.0.0.1 to 127.0.0.250, port 8404, runs the command, and prints its
//                                      processor time for each answer 304 of <polls>, after as many that do not count
//   polls ask <requests>               asks such a server, 64 requests at a time, host after host
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <curl/curl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PORT = 8404, HOSTS = 250, FEEDS = 10000, IMAGES = 20, RUNNING = 64, MOST = 4096 };

// MARK: The server: one request at a time on each connection, which stays open

static char bodies[8192];
static long unchanged;

static void answer(int client, const char *request) {
  char text[16384], path[64] = "";
  sscanf(request, "GET %63s", path);
  int size;
  if (strcasestr(request, "\r\nIf-None-Match:")) {
    unchanged++;
    size = sprintf(text, "HTTP/1.1 304 Not Modified\r\nETag: \"%s\"\r\nDate: Sat, 22 Nov 2025 12:00:00 GMT\r\n\r\n", path);
  } else {
    int length = sprintf(bodies, "{\"version\":\"https://jsonfeed.org/version/1.1\",\"title\":\"%s\",\"items\":[", path);
    for (int i = 0; i < IMAGES; i++)
      length += sprintf(bodies + length, "%s{\"id\":\"%s/%d\",\"image\":\"https://images.example%s/%d.jpg\"}",
                        i ? "," : "", path, i, path, i);
    length += sprintf(bodies + length, "]}");
    size = sprintf(text, "HTTP/1.1 200 OK\r\nETag: \"%s\"\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s",
                   path, length, bodies);
  }
  if (send(client, text, size, MSG_NOSIGNAL) != size) perror("send");
}

static int listen_everywhere(void) {
  int server = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), yes = 1;
  setsockopt(server, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(PORT)};
  if (bind(server, (struct sockaddr *)&address, sizeof address) || listen(server, 1024)) {
    perror("port 8404");
    exit(1);
  }
  return server;
}

static double processor_time(pid_t process) {
  char path[64], line[1024];
  sprintf(path, "/proc/%d/stat", process);
  FILE *file = fopen(path, "r");
  if (!file || !fgets(line, sizeof line, file)) return -1;
  fclose(file);
  unsigned long user, system;
  sscanf(strrchr(line, ')') + 2, "%*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu", &user, &system);
  return (double)(user + system) / sysconf(_SC_CLK_TCK);
}

static int measure(long polls, char **command) {
  int server = listen_everywhere(), events = epoll_create1(EPOLL_CLOEXEC);
  epoll_ctl(events, EPOLL_CTL_ADD, server, &(struct epoll_event){.events = EPOLLIN, .data.fd = server});
  pid_t child = fork();
  if (child == 0) {
    execvp(command[0], command);
    perror(command[0]);
    _exit(127);
  }
  double began = -1;
  while (1) {
    struct epoll_event ready[256];
    int count = epoll_wait(events, ready, 256, 1000);
    for (int i = 0; i < count; i++) {
      int client = ready[i].data.fd;
      if (client == server) {
        client = accept4(server, NULL, NULL, SOCK_CLOEXEC);
        epoll_ctl(events, EPOLL_CTL_ADD, client, &(struct epoll_event){.events = EPOLLIN, .data.fd = client});
        continue;
      }
      char request[4096];
      ssize_t size = recv(client, request, sizeof request - 1, 0);
      if (size <= 0) {
        close(client);
        continue;
      }
      request[size] = 0;
      answer(client, request);
      if (unchanged == polls && began < 0) began = processor_time(child);
      if (unchanged == 2 * polls) {
        printf("%.1f\n", (processor_time(child) - began) / polls * 1e6);
        kill(child, SIGKILL);
        waitpid(child, NULL, 0);
        return 0;
      }
    }
    if (waitpid(child, NULL, WNOHANG) == child) {
      fprintf(stderr, "The command ended after %ld polls.\n", unchanged);
      return 1;
    }
  }
}

// MARK: The client: libcurl's sockets on epoll

static CURLM *multi;
static int epoll, is_watched[MOST];
static long started, ended, total, timeout = -1;

static size_t ignore(char *data, size_t size, size_t count, void *user) { return size * count; }

static void next(CURL *easy) {
  if (started >= total) return;
  char url[64], tag[64];
  long feed = started++ % FEEDS;
  sprintf(url, "http://127.0.0.%ld:%d/%ld", feed % HOSTS + 1, PORT, feed);
  sprintf(tag, "If-None-Match: \"/%ld\"", feed);
  struct curl_slist *old;
  curl_easy_getinfo(easy, CURLINFO_PRIVATE, &old);
  curl_slist_free_all(old);
  struct curl_slist *headers = curl_slist_append(NULL, tag);
  curl_easy_setopt(easy, CURLOPT_PRIVATE, headers);
  curl_easy_setopt(easy, CURLOPT_HTTPHEADER, headers);
  curl_easy_setopt(easy, CURLOPT_URL, url);
  curl_multi_add_handle(multi, easy);
}

static int on_socket(CURL *easy, curl_socket_t socket, int what, void *user, void *known) {
  struct epoll_event event = {.data.fd = socket};
  if (what == CURL_POLL_REMOVE) {
    epoll_ctl(epoll, EPOLL_CTL_DEL, socket, &event);
    is_watched[socket] = 0;
    return 0;
  }
  if (what & CURL_POLL_IN) event.events |= EPOLLIN;
  if (what & CURL_POLL_OUT) event.events |= EPOLLOUT;
  epoll_ctl(epoll, is_watched[socket] ? EPOLL_CTL_MOD : EPOLL_CTL_ADD, socket, &event);
  is_watched[socket] = 1;
  return 0;
}

static int on_timer(CURLM *multi, long milliseconds, void *user) {
  timeout = milliseconds;
  return 0;
}

static int ask(long requests) {
  total = requests;
  curl_global_init(CURL_GLOBAL_DEFAULT);
  multi = curl_multi_init();
  epoll = epoll_create1(0);
  curl_multi_setopt(multi, CURLMOPT_SOCKETFUNCTION, on_socket);
  curl_multi_setopt(multi, CURLMOPT_TIMERFUNCTION, on_timer);
  curl_multi_setopt(multi, CURLMOPT_MAXCONNECTS, 256L);
  for (int i = 0; i < RUNNING; i++) {
    CURL *easy = curl_easy_init();
    curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, ignore);
    curl_easy_setopt(easy, CURLOPT_HEADERFUNCTION, ignore);
    curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(easy, CURLOPT_PROXY, "");
    curl_easy_setopt(easy, CURLOPT_PRIVATE, NULL);
    next(easy);
  }
  while (ended < total) {
    struct epoll_event ready[64];
    int running, count = epoll_wait(epoll, ready, 64, timeout < 0 ? 1000 : timeout);
    if (count == 0) curl_multi_socket_action(multi, CURL_SOCKET_TIMEOUT, 0, &running);
    for (int i = 0; i < count; i++) {
      int flags = (ready[i].events & EPOLLIN ? CURL_CSELECT_IN : 0) | (ready[i].events & EPOLLOUT ? CURL_CSELECT_OUT : 0);
      curl_multi_socket_action(multi, ready[i].data.fd, flags, &running);
    }
    CURLMsg *message;
    int left;
    while ((message = curl_multi_info_read(multi, &left))) {
      CURL *easy = message->easy_handle;
      long status = 0;
      curl_easy_getinfo(easy, CURLINFO_RESPONSE_CODE, &status);
      if (message->data.result || status != 304) {
        fprintf(stderr, "%s, status %ld\n", curl_easy_strerror(message->data.result), status);
        return 1;
      }
      ended++;
      curl_multi_remove_handle(multi, easy);
      next(easy);
    }
  }
  // Until the one who measures has seen enough.
  pause();
  return 0;
}

int main(int count, char **arguments) {
  if (count > 3 && !strcmp(arguments[1], "measure")) return measure(atol(arguments[2]), arguments + 3);
  if (count == 3 && !strcmp(arguments[1], "ask")) return ask(atol(arguments[2]));
  fprintf(stderr, "usage: polls measure <polls> <command>… | polls ask <requests>\n");
  return 64;
}
