#include "chttp.h"
#include <curl/curl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>
#include <uv.h>

static uv_loop_t loop;
static uv_timer_t timer;
static CURLM *multi;
static const char *url;
static long total, started;
static chttp_result result;

typedef struct {
  uv_poll_t poll;
  curl_socket_t socket;
  int events;
} watch;

enum { MOST_SOCKETS = 4096 };

typedef struct {
  CURL *easy;
  char *body;
  size_t size, capacity;
} transfer;

static size_t on_body(char *data, size_t size, size_t count, void *user) {
  transfer *this = user;
  count *= size;
  if (this->size + count > this->capacity) {
    this->capacity = (this->size + count) * 2;
    this->body = realloc(this->body, this->capacity);
  }
  memcpy(this->body + this->size, data, count);
  this->size += count;
  return count;
}

static size_t on_header(char *data, size_t size, size_t count, void *user) { return size * count; }

static void next(transfer *this) {
  if (started >= total) return;
  started++;
  this->size = 0;
  curl_easy_setopt(this->easy, CURLOPT_URL, url);
  curl_multi_add_handle(multi, this->easy);
}

static void take_finished(void) {
  CURLMsg *message;
  int left;
  while ((message = curl_multi_info_read(multi, &left))) {
    if (message->msg != CURLMSG_DONE) continue;
    CURL *easy = message->easy_handle;
    long status = 0;
    transfer *this;
    if (message->data.result) result.failures++;
    curl_easy_getinfo(easy, CURLINFO_PRIVATE, &this);
    curl_easy_getinfo(easy, CURLINFO_RESPONSE_CODE, &status);
    if (status != 200) result.failures++;
    result.bytes += this->size;
    result.responses++;
    free(this->body);
    this->body = NULL;
    this->capacity = 0;
    curl_multi_remove_handle(multi, easy);
    next(this);
  }
}

static void act(curl_socket_t socket, int events) {
  int running;
  curl_multi_socket_action(multi, socket, events, &running);
  take_finished();
}

static void on_poll(uv_poll_t *handle, int status, int events) {
  int flags = 0;
  if (events & UV_READABLE) flags |= CURL_CSELECT_IN;
  if (events & UV_WRITABLE) flags |= CURL_CSELECT_OUT;
  act(((watch *)handle)->socket, flags);
}

static void on_timeout(uv_timer_t *timer) { act(CURL_SOCKET_TIMEOUT, 0); }

static void release(uv_handle_t *handle) { free(handle); }

// A watch lives as long as its connection: between requests it merely stops.
static watch *watches[MOST_SOCKETS];

static int on_socket(CURL *easy, curl_socket_t socket, int what, void *user, void *known) {
  if (socket >= MOST_SOCKETS) abort();
  watch *this = watches[socket];
  if (what == CURL_POLL_REMOVE) {
    if (this) {
      uv_poll_stop(&this->poll);
      this->events = 0;
    }
    return 0;
  }
  if (!this) {
    this = watches[socket] = calloc(1, sizeof *this);
    this->socket = socket;
    uv_poll_init_socket(&loop, &this->poll, socket);
  }
  int events = what == CURL_POLL_IN ? UV_READABLE : what == CURL_POLL_OUT ? UV_WRITABLE : UV_READABLE | UV_WRITABLE;
  if (events != this->events) uv_poll_start(&this->poll, this->events = events, on_poll);
  return 0;
}

static int on_close(void *user, curl_socket_t socket) {
  watch *this = socket < MOST_SOCKETS ? watches[socket] : NULL;
  if (this) {
    watches[socket] = NULL;
    uv_close((uv_handle_t *)this, release);
  }
  return close(socket);
}

// A timeout of zero is due on the loop's next turn; a millisecond later would be a tenth of the speed.
static int on_timer(CURLM *multi, long milliseconds, void *user) {
  if (milliseconds < 0) return uv_timer_stop(&timer);
  return uv_timer_start(&timer, on_timeout, milliseconds, 0);
}

static double processor_seconds(void) {
  struct rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_utime.tv_sec + usage.ru_stime.tv_sec + (usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
}

chttp_result chttp_run(const char *address, int in_flight, long requests) {
  url = address;
  total = requests;
  started = 0;
  result = (chttp_result){0};
  uv_loop_init(&loop);
  uv_timer_init(&loop, &timer);
  multi = curl_multi_init();
  curl_multi_setopt(multi, CURLMOPT_SOCKETFUNCTION, on_socket);
  curl_multi_setopt(multi, CURLMOPT_TIMERFUNCTION, on_timer);
  curl_multi_setopt(multi, CURLMOPT_MAX_HOST_CONNECTIONS, (long)in_flight);
  transfer *transfers = calloc(in_flight, sizeof *transfers);
  for (int i = 0; i < in_flight; i++) {
    transfer *this = transfers + i;
    CURL *easy = this->easy = curl_easy_init();
    curl_easy_setopt(easy, CURLOPT_PRIVATE, this);
    curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, on_body);
    curl_easy_setopt(easy, CURLOPT_WRITEDATA, this);
    curl_easy_setopt(easy, CURLOPT_HEADERFUNCTION, on_header);
    curl_easy_setopt(easy, CURLOPT_CLOSESOCKETFUNCTION, on_close);
    curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(easy, CURLOPT_FOLLOWLOCATION, 1L);
    curl_easy_setopt(easy, CURLOPT_TIMEOUT_MS, 30000L);
    curl_easy_setopt(easy, CURLOPT_USERAGENT, "FeedStream/0.1");
    curl_easy_setopt(easy, CURLOPT_ACCEPT_ENCODING, "gzip, deflate, br, zstd");
    next(this);
  }
  double processor = processor_seconds();
  uint64_t start = uv_hrtime();
  uv_run(&loop, UV_RUN_DEFAULT);
  result.seconds = (uv_hrtime() - start) / 1e9;
  result.processor_seconds = processor_seconds() - processor;
  for (int i = 0; i < in_flight; i++) curl_easy_cleanup(transfers[i].easy);
  free(transfers);
  curl_multi_cleanup(multi);
  uv_close((uv_handle_t *)&timer, NULL);
  uv_run(&loop, UV_RUN_DEFAULT);
  if (uv_loop_close(&loop)) abort();
  return result;
}
