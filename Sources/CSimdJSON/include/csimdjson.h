#ifndef CSIMDJSON_H
#define CSIMDJSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/// The number of bytes after a document that must be readable, whatever their values.
#define CSIMDJSON_PADDING 64

/// simdjson's representation of a document: its tape (simdjson's doc/tape.md), and the strings that the tape refers to,
/// each preceded by its length in four bytes. The parser owns both, until it parses again or is destroyed.
typedef struct {
  const uint64_t *tape;
  const uint8_t *strings;
} csimdjson_document;

typedef struct csimdjson_parser csimdjson_parser;

/// Creates a parser for documents of up to `capacity` bytes, nested at most `depth` deep. Returns NULL if there isn't
/// enough memory.
csimdjson_parser *csimdjson_parser_create(size_t capacity, size_t depth);
void csimdjson_parser_destroy(csimdjson_parser *parser);

/// Parses `length` bytes, which must be followed by CSIMDJSON_PADDING readable ones. Everything is validated, including
/// UTF-8, numbers, escapes, and the absence of data after the document. Returns false if anything is invalid.
bool csimdjson_parse(csimdjson_parser *parser, const uint8_t *bytes, size_t length, csimdjson_document *document);

/// Transfers ownership of the last document's strings to the caller; they stay in place until csimdjson_free_strings.
uint8_t *csimdjson_take_strings(csimdjson_parser *parser);
void csimdjson_free_strings(uint8_t *strings);

/// Requests large pages for memory that hasn't been used yet: 10,000 page faults take a quarter of the time needed to
/// parse a large document. Has no effect if the system doesn't support them.
void csimdjson_prefer_large_pages(void *start, size_t length);

bool csimdjson_is_utf8(const uint8_t *bytes, size_t length);

#ifdef __cplusplus
}
#endif

#endif
