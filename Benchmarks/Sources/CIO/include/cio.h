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

#endif
