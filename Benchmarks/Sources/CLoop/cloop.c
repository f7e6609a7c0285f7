#include "cloop.h"
#include <stdlib.h>
#include <uv.h>

static uv_loop_t loop;
static long count, target;

static void begin(void) {
  uv_loop_init(&loop);
  count = 0;
}

static void run_dry(void) {
  uv_run(&loop, UV_RUN_DEFAULT);
  if (uv_loop_close(&loop)) abort();
}

static void expect(long n) {
  if (count != n) abort();
}

static void release(uv_handle_t *handle) { free(handle); }

// Timers

static void fired(uv_timer_t *timer) {
  count++;
  uv_close((uv_handle_t *)timer, release);
}

void c_one_shot_timers(long n) {
  begin();
  for (long i = 0; i < n; i++) {
    uv_timer_t *timer = malloc(sizeof *timer);
    uv_timer_init(&loop, timer);
    uv_timer_start(timer, fired, 1 + (i * 7919) % 100, 0);
  }
  run_dry();
  expect(n);
}

static uv_timer_t *repeating;
static long repeating_count;

static void ticked(uv_timer_t *timer) {
  if (++count != target) return;
  for (long i = 0; i < repeating_count; i++) uv_close((uv_handle_t *)(repeating + i), NULL);
}

void c_repeating_timers(long timers, long ticks) {
  begin();
  target = ticks;
  repeating_count = timers;
  repeating = malloc(timers * sizeof *repeating);
  for (long i = 0; i < timers; i++) {
    uv_timer_init(&loop, repeating + i);
    uv_timer_start(repeating + i, ticked, 1 + i % 10, 10);
  }
  run_dry();
  free(repeating);
}

// Across threads

static uv_loop_t here, there;
static uv_async_t wake_here, wake_there;

static void woken_there(uv_async_t *handle) {
  if (count >= target) return uv_close((uv_handle_t *)handle, NULL);
  uv_async_send(&wake_here);
}

static void woken_here(uv_async_t *handle) {
  count++;
  uv_async_send(&wake_there);
  if (count >= target) uv_close((uv_handle_t *)handle, NULL);
}

static void run_there(void *unused) { uv_run(&there, UV_RUN_DEFAULT); }

void c_ping_pong(long n) {
  count = 0;
  target = n;
  uv_loop_init(&here);
  uv_loop_init(&there);
  uv_async_init(&here, &wake_here, woken_here);
  uv_async_init(&there, &wake_there, woken_there);
  uv_thread_t thread;
  uv_thread_create(&thread, run_there, NULL);
  uv_async_send(&wake_there);
  uv_run(&here, UV_RUN_DEFAULT);
  uv_thread_join(&thread);
  if (uv_loop_close(&here) || uv_loop_close(&there)) abort();
}

// Numbers from another thread

typedef struct {
  long *items, count, room;
} numbers;

static uv_mutex_t sending;
static numbers sent, taken;
static long total;

static void numbers_arrived(uv_async_t *handle) {
  uv_mutex_lock(&sending);
  numbers full = sent;
  sent = taken;
  uv_mutex_unlock(&sending);
  for (long i = 0; i < full.count; i++) {
    total += full.items[i];
    count++;
  }
  full.count = 0;
  taken = full;
  if (count == target) uv_close((uv_handle_t *)handle, NULL);
}

static void send_numbers(void *unused) {
  for (long i = 0; i < target; i++) {
    uv_mutex_lock(&sending);
    if (sent.count == sent.room) {
      sent.room = sent.room ? 2 * sent.room : 256;
      sent.items = realloc(sent.items, sent.room * sizeof *sent.items);
    }
    sent.items[sent.count++] = i;
    uv_mutex_unlock(&sending);
    uv_async_send(&wake_here);
  }
}

void c_send(long n) {
  begin();
  target = n;
  total = 0;
  sent = taken = (numbers){0};
  uv_mutex_init(&sending);
  uv_async_init(&loop, &wake_here, numbers_arrived);
  uv_thread_t thread;
  uv_thread_create(&thread, send_numbers, NULL);
  uv_run(&loop, UV_RUN_DEFAULT);
  uv_thread_join(&thread);
  free(sent.items);
  free(taken.items);
  uv_mutex_destroy(&sending);
  run_dry();
  if (total != n * (n - 1) / 2) abort();
}

// Scheduling: libuv has no queue of jobs; this is the least one can write.

typedef struct job {
  struct job *next;
  void (*run)(void *);
  void *data;
} job;

static job *first, **end = &first;
static uv_idle_t idle;

static void turn(uv_idle_t *handle) {
  job *next = first;
  first = NULL;
  end = &first;
  while (next) {
    job *this = next;
    next = this->next;
    this->run(this->data);
    free(this);
  }
  if (!first) uv_idle_stop(handle);
}

static void schedule(void (*run)(void *), void *data) {
  job *this = malloc(sizeof *this);
  *this = (job){NULL, run, data};
  if (!first) uv_idle_start(&idle, turn);
  *end = this;
  end = &this->next;
}

static void run_scheduled(void) {
  uv_run(&loop, UV_RUN_DEFAULT);
  uv_close((uv_handle_t *)&idle, NULL);
  run_dry();
}

static void add_one(void *data) { ++*(long *)data; }

static void go_on(void *data) {
  if (++*(long *)data < target) schedule(go_on, data);
}

void c_schedule(long n) {
  begin();
  uv_idle_init(&loop, &idle);
  for (long i = 0; i < n; i++) schedule(add_one, &count);
  run_scheduled();
  expect(n);
}

void c_schedule_chains(long chains, long n) {
  begin();
  uv_idle_init(&loop, &idle);
  target = n;
  for (long i = 0; i < chains; i++) schedule(go_on, &count);
  run_scheduled();
}

// The thread pool

typedef struct {
  uv_work_t work;
  long nanoseconds, result;
} task;

void c_spin(long nanoseconds) {
  if (nanoseconds == 0) return;
  uint64_t until = uv_hrtime() + nanoseconds;
  while (uv_hrtime() < until) {}
}

static void work(uv_work_t *work) {
  task *this = (task *)work;
  c_spin(this->nanoseconds);
  this->result = 1;
}

static void worked(uv_work_t *work, int status) {
  count += ((task *)work)->result;
  free(work);
}

void c_work(long n, long nanoseconds) {
  begin();
  for (long i = 0; i < n; i++) {
    task *this = malloc(sizeof *this);
    this->nanoseconds = nanoseconds;
    this->result = 0;
    uv_queue_work(&loop, &this->work, work, worked);
  }
  run_dry();
  expect(n);
}
