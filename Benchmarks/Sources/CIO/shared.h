#ifndef SHARED_H
#define SHARED_H

#include <uv.h>

// What the servers and clients share.

extern uv_loop_t io_loop;

/// Ends the process when libuv reports an error.
void check(int code);

/// Frees a handle that is closed.
void release(uv_handle_t *handle);

/// One buffer for all reads.
void allocate(uv_handle_t *handle, size_t size, uv_buf_t *buffer);

/// Listens at a port that it writes to the descriptor, until it is killed.
void serve(int descriptor, uv_connection_cb accepted);

#endif
