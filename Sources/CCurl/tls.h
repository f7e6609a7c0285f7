#ifndef FEEDSTREAM_CCURL_TLS_H
#define FEEDSTREAM_CCURL_TLS_H

#include <stddef.h>

// Functions of the TLS library behind libcurl that libcurl doesn't expose. They are looked up by name at run time, like
// those of codecs.h; the types are those of OpenSSL 1.1 and 3.

typedef void (*ccurl_tls_message)(int is_sent, int version, int type, const void *bytes, size_t count, void *ssl,
                                  void *user);
typedef void (*ccurl_tls_set_message)(void *context, ccurl_tls_message);
typedef long (*ccurl_tls_control)(void *context, int command, long number, void *pointer);

typedef int (*ccurl_tls_verify)(int is_valid, void *store);
typedef void (*ccurl_tls_set_verify)(void *context, int mode, ccurl_tls_verify);
typedef int (*ccurl_tls_depth)(void *store);
typedef void *(*ccurl_tls_certificate)(void *store);
typedef void (*ccurl_tls_set_error)(void *store, int error);

typedef void *(*ccurl_tls_extension)(const void *certificate, int identifier, int *critical, int *index);
typedef int (*ccurl_tls_count)(const void *names);
typedef void *(*ccurl_tls_value)(const void *names, int index);
typedef void *(*ccurl_tls_name)(const void *name, int *type);
typedef void (*ccurl_tls_free_names)(void *names);

#endif
