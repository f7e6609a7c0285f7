/// What a run of requests took.
typedef struct {
  double seconds, processor_seconds;
  long responses, bytes, failures;
} chttp_result;

/// Gets `url` so many times, that many at once, on libcurl's multi-socket interface driven by libuv: the floor.
chttp_result chttp_run(const char *url, int in_flight, long total);
