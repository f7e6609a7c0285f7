// SET commands from hiredis on libuv, so many on their way at a time: what a command of FeedRedis is compared with. See
// Benchmarks/redis.
//
//   redis <socket> <commands> <depth>   prints its processor time in microseconds a command
#include <hiredis/adapters/libuv.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>

static redisAsyncContext *context;
static long left, waiting;

static void answered(redisAsyncContext *c, void *reply, void *data);

static void next(void) {
  left--;
  waiting++;
  redisAsyncCommand(context, answered, NULL, "SET greeting %d", (int)left);
}

static void answered(redisAsyncContext *c, void *reply, void *data) {
  redisReply *r = reply;
  waiting--;
  if (!r || r->type != REDIS_REPLY_STATUS) {
    fprintf(stderr, "no reply\n");
    exit(1);
  }
  if (left > 0) next();
  else if (waiting == 0) redisAsyncDisconnect(c);
}

static double used(void) {
  struct rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_utime.tv_sec * 1e6 + usage.ru_utime.tv_usec + usage.ru_stime.tv_sec * 1e6 + usage.ru_stime.tv_usec;
}

int main(int count, char **words) {
  if (count != 4) return 2;
  context = redisAsyncConnectUnix(words[1]);
  if (context->err) {
    fprintf(stderr, "%s\n", context->errstr);
    return 1;
  }
  redisLibuvAttach(context, uv_default_loop());
  long commands = left = atol(words[2]);
  double before = used();
  for (int i = 0; i < atoi(words[3]) && left > 0; i++) next();
  uv_run(uv_default_loop(), UV_RUN_DEFAULT);
  printf("%.3f\n", (used() - before) / commands);
  return 0;
}
