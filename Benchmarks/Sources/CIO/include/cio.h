#ifndef CIO_H
#define CIO_H

/// Sends back what it is sent, at a port that it writes to the descriptor, until it is killed.
void c_echo_server(int descriptor);

/// Sends `messages` of `size` bytes over `connections`, each after the answer to the one before.
/// Returns the seconds that it took.
double c_echo_client(int port, int connections, int size, long messages);

/// Closes every connection that it accepts, at a port that it writes to the descriptor, until it is killed.
void c_accepting_server(int descriptor);

/// Fills the backlog of a server that closes what it accepts, and lets it go on, `batches` times; the server stands still
/// meanwhile. Returns the seconds that it took to accept and close the connections.
double c_accept(int port, int process, int batch, int batches);

/// Reads a file in pieces of 256 KiB on the thread pool and counts its lines and their bytes.
long c_count_lines(const char *path, long *bytes);

/// Runs `true` `count` times, 4 at a time, and reads its output.
void c_spawn(const char *path, long count);

/// Connects to a port, or to a path when there is none. Returns the descriptor.
int c_connect(int port, const char *path);

/// True when somebody listens at the port.
_Bool c_can_connect(int port);

/// Sends so many bytes to a port, which may lose them.
void c_send_datagram(int port, int size);

// HTTP

/// Answers `GET /` with a small page, at a port that it writes to the descriptor, until it is killed.
void c_http_server(int descriptor);

/// That page.
const char *c_http_page(void);

/// Asks so often over so many kept connections, each after the answer to the one before. Returns the seconds that it took.
double c_http_client(int port, int connections, long requests);

/// Asks once over each of so many connections and keeps them.
void c_http_hold(int port, int connections);
void c_http_release(void);

/// Connects so many clients to `/events`, of which the first `still` read nothing beyond the greeting, "hello".
void c_events_open(int port, int clients, int still);

/// Posts an event of so many bytes to `/say`. Returns the seconds until all who read have it.
double c_events_send(int port, int size);
void c_events_close(void);

/// Reads `/endless` at a rate, for a while. Returns how many bytes.
long c_read_slowly(int port, long bytes_per_second, double seconds);

// TLS

/// Serves with OpenSSL on blocking sockets: after "S" it sends so many bytes, after "R" it reads as many and sends one.
void c_tls_server(int descriptor, const char *certificate, const char *key, long bytes);

/// Asks for one of these. Verifies nothing. Returns the seconds that it took, without the handshake.
double c_tls_client(int port, char command, long bytes);

#endif
