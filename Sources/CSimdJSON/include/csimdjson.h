#ifndef CSIMDJSON_H
#define CSIMDJSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/// The bytes that must be readable, of whatever value, after a document.
#define CSIMDJSON_PADDING 64

/// What simdjson made of a document: its tape (simdjson's doc/tape.md) and the strings that the tape points to, each
/// preceded by its length in four bytes. Both are the parser's, until it parses again or goes.
typedef struct {
  const uint64_t *tape;
  const uint8_t *strings;
} csimdjson_document;

typedef struct csimdjson_parser csimdjson_parser;

/// A parser of documents of up to `capacity` bytes that nest no deeper than `depth`; NULL without memory.
csimdjson_parser *csimdjson_parser_create(size_t capacity, size_t depth);
void csimdjson_parser_destroy(csimdjson_parser *parser);

/// Parses `length` bytes, after which CSIMDJSON_PADDING more are readable. Everything is checked: UTF-8, numbers,
/// escapes, that nothing follows. False when anything is wrong.
bool csimdjson_parse(csimdjson_parser *parser, const uint8_t *bytes, size_t length, csimdjson_document *document);

/// Hands the strings of the last document over: they stay where they are, until csimdjson_free_strings.
uint8_t *csimdjson_take_strings(csimdjson_parser *parser);
void csimdjson_free_strings(uint8_t *strings);

/// Asks for large pages for memory that nobody has touched yet: a quarter of the time of a large document is that of 10,000
/// page faults. In vain where the system does not have them.
void csimdjson_prefer_large_pages(void *start, size_t length);

bool csimdjson_is_utf8(const uint8_t *bytes, size_t length);

#ifdef __cplusplus
}
#endif

#endif
