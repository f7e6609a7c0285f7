#include "cio.h"
#include <netinet/in.h>
#include <openssl/ssl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include <uv.h>

// OpenSSL on blocking sockets, which is the least that TLS can cost.

static char block[65536];

static void fail(const char *what) {
  fprintf(stderr, "io: %s failed\n", what);
  abort();
}

static void converse(SSL *ssl, long bytes) {
  char command;
  if (SSL_read(ssl, &command, 1) != 1) fail("SSL_read");
  if (command == 'S') {
    for (long left = bytes; left > 0; left -= sizeof block)
      if (SSL_write(ssl, block, sizeof block) != sizeof block) fail("SSL_write");
    SSL_shutdown(ssl);
  } else {
    long left = bytes;
    while (left > 0) {
      int count = SSL_read(ssl, block, sizeof block);
      if (count <= 0) fail("SSL_read");
      left -= count;
    }
    if (SSL_write(ssl, "k", 1) != 1) fail("SSL_write");
    SSL_shutdown(ssl);
  }
}

void c_tls_server(int descriptor, const char *certificate, const char *key, long bytes) {
  signal(SIGPIPE, SIG_IGN);
  SSL_CTX *context = SSL_CTX_new(TLS_server_method());
  if (SSL_CTX_use_certificate_chain_file(context, certificate) != 1) fail("the certificate");
  if (SSL_CTX_use_PrivateKey_file(context, key, SSL_FILETYPE_PEM) != 1) fail("the key");
  int listener = socket(AF_INET, SOCK_STREAM, 0);
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  socklen_t length = sizeof address;
  if (bind(listener, (struct sockaddr *)&address, length) || listen(listener, 16)) fail("listen");
  getsockname(listener, (struct sockaddr *)&address, &length);
  dprintf(descriptor, "%d\n", ntohs(address.sin_port));
  for (;;) {
    int client = accept(listener, NULL, NULL);
    SSL *ssl = SSL_new(context);
    SSL_set_fd(ssl, client);
    if (SSL_accept(ssl) != 1) fail("SSL_accept");
    converse(ssl, bytes);
    SSL_free(ssl);
    close(client);
  }
}

double c_tls_client(int port, char command, long bytes) {
  SSL_CTX *context = SSL_CTX_new(TLS_client_method());
  int server = socket(AF_INET, SOCK_STREAM, 0);
  struct sockaddr_in address;
  uv_ip4_addr("127.0.0.1", port, &address);
  if (connect(server, (struct sockaddr *)&address, sizeof address)) fail("connect");
  SSL *ssl = SSL_new(context);
  SSL_set_fd(ssl, server);
  if (SSL_connect(ssl) != 1) fail("SSL_connect");
  uint64_t begun = uv_hrtime();
  if (SSL_write(ssl, &command, 1) != 1) fail("SSL_write");
  long total = 0;
  if (command == 'R')
    for (long left = bytes; left > 0; left -= sizeof block)
      if (SSL_write(ssl, block, sizeof block) != sizeof block) fail("SSL_write");
  int count;
  while ((count = SSL_read(ssl, block, sizeof block)) > 0) total += count;
  double seconds = (uv_hrtime() - begun) / 1e9;
  if (total != (command == 'S' ? bytes : 1)) fail("the end");
  SSL_free(ssl);
  close(server);
  SSL_CTX_free(context);
  return seconds;
}
