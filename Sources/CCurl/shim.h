#ifndef FEEDSTREAM_CCURL_H
#define FEEDSTREAM_CCURL_H

#include <curl/curl.h>
#include "codecs.h"

// Swift can't call variadic C functions, so there is one function for each type of argument.

static inline CURLcode ccurl_set_long(CURL *easy, CURLoption option, long value) {
  return curl_easy_setopt(easy, option, value);
}
static inline CURLcode ccurl_set_pointer(CURL *easy, CURLoption option, const void *value) {
  return curl_easy_setopt(easy, option, value);
}
static inline CURLcode ccurl_set_write(CURL *easy, CURLoption option, curl_write_callback value) {
  return curl_easy_setopt(easy, option, value);
}
static inline CURLcode ccurl_set_off(CURL *easy, CURLoption option, curl_off_t value) {
  return curl_easy_setopt(easy, option, value);
}
static inline CURLcode ccurl_set_read(CURL *easy, curl_read_callback value) {
  return curl_easy_setopt(easy, CURLOPT_READFUNCTION, value);
}
static inline CURLcode ccurl_set_seek(CURL *easy, curl_seek_callback value) {
  return curl_easy_setopt(easy, CURLOPT_SEEKFUNCTION, value);
}
static inline CURLcode ccurl_set_progress(CURL *easy, curl_xferinfo_callback value) {
  return curl_easy_setopt(easy, CURLOPT_XFERINFOFUNCTION, value);
}
static inline CURLcode ccurl_set_opensocket(CURL *easy, curl_opensocket_callback value) {
  return curl_easy_setopt(easy, CURLOPT_OPENSOCKETFUNCTION, value);
}
static inline CURLcode ccurl_set_prereq(CURL *easy, curl_prereq_callback value) {
  return curl_easy_setopt(easy, CURLOPT_PREREQFUNCTION, value);
}
static inline CURLcode ccurl_set_ssl_context(CURL *easy, curl_ssl_ctx_callback value) {
  return curl_easy_setopt(easy, CURLOPT_SSL_CTX_FUNCTION, value);
}
static inline CURLcode ccurl_set_closesocket(CURL *easy, curl_closesocket_callback value) {
  return curl_easy_setopt(easy, CURLOPT_CLOSESOCKETFUNCTION, value);
}

static inline CURLcode ccurl_get_long(CURL *easy, CURLINFO info, long *value) {
  return curl_easy_getinfo(easy, info, value);
}
static inline CURLcode ccurl_get_off(CURL *easy, CURLINFO info, curl_off_t *value) {
  return curl_easy_getinfo(easy, info, value);
}
static inline CURLcode ccurl_get_string(CURL *easy, CURLINFO info, const char **value) {
  return curl_easy_getinfo(easy, info, value);
}
static inline CURLcode ccurl_get_pointer(CURL *easy, CURLINFO info, void **value) {
  return curl_easy_getinfo(easy, info, value);
}

static inline CURLMcode ccurl_multi_set_long(CURLM *multi, CURLMoption option, long value) {
  return curl_multi_setopt(multi, option, value);
}
static inline CURLMcode ccurl_multi_set_pointer(CURLM *multi, CURLMoption option, void *value) {
  return curl_multi_setopt(multi, option, value);
}
static inline CURLMcode ccurl_multi_set_socket(CURLM *multi, curl_socket_callback value) {
  return curl_multi_setopt(multi, CURLMOPT_SOCKETFUNCTION, value);
}
static inline CURLMcode ccurl_multi_set_timer(CURLM *multi, curl_multi_timer_callback value) {
  return curl_multi_setopt(multi, CURLMOPT_TIMERFUNCTION, value);
}

// `CURLMsg` contains a union, whose members Swift can't read by name.
static inline CURLcode ccurl_message_result(const CURLMsg *message) { return message->data.result; }

// Macros that Swift does not import.
static inline long ccurl_global_default(void) { return CURL_GLOBAL_DEFAULT; }
static inline size_t ccurl_write_pause(void) { return CURL_WRITEFUNC_PAUSE; }
static inline size_t ccurl_read_pause(void) { return CURL_READFUNC_PAUSE; }
static inline CURLversion ccurl_version_now(void) { return CURLVERSION_NOW; }

#endif
