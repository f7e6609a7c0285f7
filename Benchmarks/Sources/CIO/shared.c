#include "shared.h"
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

uv_loop_t io_loop;

static char room[65536];

void check(int code) {
  if (code >= 0) return;
  fprintf(stderr, "io: %s\n", uv_strerror(code));
  abort();
}

void release(uv_handle_t *handle) { free(handle); }

void allocate(uv_handle_t *handle, size_t size, uv_buf_t *buffer) { *buffer = uv_buf_init(room, sizeof room); }

void serve(int descriptor, uv_connection_cb accepted) {
  signal(SIGPIPE, SIG_IGN);
  check(uv_loop_init(&io_loop));
  uv_tcp_t server;
  struct sockaddr_in address;
  int length = sizeof address;
  check(uv_tcp_init(&io_loop, &server));
  check(uv_ip4_addr("127.0.0.1", 0, &address));
  check(uv_tcp_bind(&server, (struct sockaddr *)&address, 0));
  check(uv_listen((uv_stream_t *)&server, 511, accepted));
  check(uv_tcp_getsockname(&server, (struct sockaddr *)&address, &length));
  dprintf(descriptor, "%d\n", ntohs(address.sin_port));
  uv_run(&io_loop, UV_RUN_DEFAULT);
}
