#include "csimdjson.h"

#include <new>

#include <sys/mman.h>

#include <simdjson.h>

static_assert(CSIMDJSON_PADDING >= simdjson::SIMDJSON_PADDING, "Raise CSIMDJSON_PADDING in csimdjson.h.");

struct csimdjson_parser {
  simdjson::dom::parser parser;

  explicit csimdjson_parser(size_t capacity) : parser(capacity) {}
};

extern "C" void csimdjson_prefer_large_pages(void *start, size_t length) {
#ifdef MADV_HUGEPAGE
  const uintptr_t size = 2 << 20, first = (reinterpret_cast<uintptr_t>(start) + size - 1) & ~(size - 1);
  const uintptr_t end = (reinterpret_cast<uintptr_t>(start) + length) & ~(size - 1);
  // Has no effect if the system does not support large pages.
  if (end > first) (void)madvise(reinterpret_cast<void *>(first), end - first, MADV_HUGEPAGE);
#endif
}

extern "C" csimdjson_parser *csimdjson_parser_create(size_t capacity, size_t depth) {
  auto *parser = new (std::nothrow) csimdjson_parser(capacity);
  if (parser == nullptr) return nullptr;
  if (parser->parser.allocate(capacity, depth) != simdjson::SUCCESS) {
    delete parser;
    return nullptr;
  }
  // Small documents reuse warm memory. For large ones, allocate here, because simdjson would allocate only when it parses.
  if (capacity >= (4 << 20) && parser->parser.doc.allocate(capacity) == simdjson::SUCCESS) {
    csimdjson_prefer_large_pages(parser->parser.doc.tape.get(), capacity * sizeof(uint64_t));
    csimdjson_prefer_large_pages(parser->parser.doc.string_buf.get(), capacity);
    csimdjson_prefer_large_pages(parser->parser.implementation->structural_indexes.get(), capacity * sizeof(uint32_t));
  }
  return parser;
}

extern "C" void csimdjson_parser_destroy(csimdjson_parser *parser) { delete parser; }

extern "C" bool csimdjson_parse(
    csimdjson_parser *parser, const uint8_t *bytes, size_t length, csimdjson_document *document) {
  // The padding is present, so nothing is copied.
  if (parser->parser.parse(bytes, length, false).error() != simdjson::SUCCESS) return false;
  document->tape = parser->parser.doc.tape.get();
  document->strings = parser->parser.doc.string_buf.get();
  return true;
}

extern "C" uint8_t *csimdjson_take_strings(csimdjson_parser *parser) { return parser->parser.doc.string_buf.release(); }

extern "C" void csimdjson_free_strings(uint8_t *strings) { delete[] strings; }

extern "C" bool csimdjson_is_utf8(const uint8_t *bytes, size_t length) {
  return simdjson::validate_utf8(reinterpret_cast<const char *>(bytes), length);
}
