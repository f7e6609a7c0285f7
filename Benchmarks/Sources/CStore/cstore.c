#include "cstore.h"
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
  unsigned char id[16];
  char *description, *location, *url;
} image;

enum { BEGIN, BEGIN_WRITE, COMMIT, APPLICATION, VERSION, FIND, RENEW, DELETE, UPSERT, INSERT, SELECT, STATEMENTS };

static const char *const sql[STATEMENTS] = {
    "BEGIN DEFERRED",
    "BEGIN IMMEDIATE",
    "COMMIT",
    "PRAGMA application_id",
    "PRAGMA user_version",
    "SELECT id, timestamp, images FROM feed WHERE address = ?",
    "UPDATE feed SET timestamp = ? WHERE id = ?",
    "DELETE FROM image WHERE feed = ?",
    "INSERT INTO feed (address, timestamp, images) VALUES (?, ?, ?)"
    " ON CONFLICT (address) DO UPDATE SET timestamp = excluded.timestamp, images = excluded.images RETURNING id",
    "INSERT INTO image VALUES (?, ?, ?, ?, ?, ?)",
    "SELECT id, description, location, url FROM image WHERE feed = ? ORDER BY position",
};

struct cstore {
  sqlite3 *db;
  sqlite3_stmt *statements[STATEMENTS];
  image *images;
  int n, round;
};

static const char address[] = "https://example.com/feed";

static void check(cstore *store, int code) {
  if (code == SQLITE_OK || code == SQLITE_DONE || code == SQLITE_ROW) return;
  fprintf(stderr, "SQLite: %s\n", sqlite3_errmsg(store->db));
  exit(1);
}

static void run(cstore *store, int statement) {
  check(store, sqlite3_step(store->statements[statement]));
  sqlite3_reset(store->statements[statement]);
}

// As the library does: it asks whose file it is, and finds the feed, in every transaction.
static void begin(cstore *store, int how) {
  run(store, how);
  run(store, APPLICATION);
  run(store, VERSION);
  sqlite3_bind_text(store->statements[FIND], 1, address, -1, SQLITE_STATIC);
  run(store, FIND);
}

cstore *cstore_open(const char *path, int n) {
  cstore *store = calloc(1, sizeof *store);
  store->n = n;
  store->images = calloc(n, sizeof *store->images);
  // One thread, as GRDB opens it for a queue.
  check(store, sqlite3_open_v2(path, &store->db,
                               SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX, NULL));
  check(store, sqlite3_exec(
      store->db,
      "PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA secure_delete = OFF;"
      "PRAGMA journal_size_limit = 4194304;"
      "CREATE TABLE feed (id INTEGER PRIMARY KEY, address TEXT NOT NULL UNIQUE, timestamp REAL NOT NULL,"
      " images INTEGER NOT NULL) STRICT;"
      "CREATE TABLE image (feed INTEGER NOT NULL REFERENCES feed (id), position INTEGER NOT NULL, id BLOB NOT NULL,"
      " description TEXT, location TEXT, url TEXT NOT NULL, PRIMARY KEY (feed, position)) STRICT, WITHOUT ROWID",
      NULL, NULL, NULL));
  for (int i = 0; i < STATEMENTS; i++)
    check(store, sqlite3_prepare_v2(store->db, sql[i], -1, &store->statements[i], NULL));
  return store;
}

static void release(image *images, int n) {
  for (int i = 0; i < n; i++) {
    free(images[i].description);
    free(images[i].location);
    free(images[i].url);
  }
}

static char *text(const char *format, int first, int second) {
  char buffer[128];
  snprintf(buffer, sizeof buffer, format, first, second);
  return strdup(buffer);
}

void cstore_fill(cstore *store, int round) {
  release(store->images, store->n);
  store->round = round;
  for (int i = 0; i < store->n; i++) {
    image *image = store->images + i;
    for (int k = 0; k < 16; k++) image->id[k] = rand();
    image->description = text("Description of image number %d in round %d", i, round);
    image->location = text("Location %d", i, 0);
    image->url = text("https://images.example.com/%2$d/%1$d.jpg", i, round);
  }
}

void cstore_save(cstore *store) {
  begin(store, BEGIN_WRITE);
  sqlite3_bind_int64(store->statements[DELETE], 1, 1);
  run(store, DELETE);
  sqlite3_stmt *upsert = store->statements[UPSERT];
  sqlite3_bind_text(upsert, 1, address, -1, SQLITE_STATIC);
  sqlite3_bind_double(upsert, 2, store->round);
  sqlite3_bind_int64(upsert, 3, store->n);
  check(store, sqlite3_step(upsert));
  sqlite3_int64 feed = sqlite3_column_int64(upsert, 0);
  check(store, sqlite3_step(upsert));
  sqlite3_reset(upsert);
  sqlite3_stmt *insert = store->statements[INSERT];
  for (int i = 0; i < store->n; i++) {
    image *image = store->images + i;
    sqlite3_bind_int64(insert, 1, feed);
    sqlite3_bind_int64(insert, 2, i);
    sqlite3_bind_blob(insert, 3, image->id, 16, SQLITE_STATIC);
    sqlite3_bind_text(insert, 4, image->description, -1, SQLITE_STATIC);
    sqlite3_bind_text(insert, 5, image->location, -1, SQLITE_STATIC);
    sqlite3_bind_text(insert, 6, image->url, -1, SQLITE_STATIC);
    run(store, INSERT);
  }
  run(store, COMMIT);
}

static int equals(sqlite3_stmt *row, int column, const char *text) {
  size_t length = strlen(text);
  return sqlite3_column_bytes(row, column) == (int)length && !memcmp(sqlite3_column_text(row, column), text, length);
}

void cstore_renew(cstore *store) {
  begin(store, BEGIN_WRITE);
  sqlite3_stmt *row = store->statements[SELECT];
  sqlite3_bind_int64(row, 1, 1);
  int i = 0, same = 1;
  for (; same && sqlite3_step(row) == SQLITE_ROW; i++) {
    image *image = store->images + i;
    same = !memcmp(image->id, sqlite3_column_blob(row, 0), 16) && equals(row, 1, image->description) &&
           equals(row, 2, image->location) && equals(row, 3, image->url);
  }
  sqlite3_reset(row);
  if (!same || i != store->n) abort();
  sqlite3_bind_double(store->statements[RENEW], 1, ++store->round);
  sqlite3_bind_int64(store->statements[RENEW], 2, 1);
  run(store, RENEW);
  run(store, COMMIT);
}

void cstore_retrieve(cstore *store) {
  begin(store, BEGIN);
  sqlite3_stmt *row = store->statements[SELECT];
  sqlite3_bind_int64(row, 1, 1);
  image *images = malloc(store->n * sizeof *images);
  int i = 0;
  for (; i < store->n && sqlite3_step(row) == SQLITE_ROW; i++) {
    memcpy(images[i].id, sqlite3_column_blob(row, 0), 16);
    images[i].description = strdup((const char *)sqlite3_column_text(row, 1));
    images[i].location = strdup((const char *)sqlite3_column_text(row, 2));
    images[i].url = strdup((const char *)sqlite3_column_text(row, 3));
  }
  sqlite3_reset(row);
  run(store, COMMIT);
  if (i != store->n) abort();
  release(images, i);
  free(images);
}

void cstore_close(cstore *store) {
  for (int i = 0; i < STATEMENTS; i++) sqlite3_finalize(store->statements[i]);
  sqlite3_close(store->db);
  release(store->images, store->n);
  free(store->images);
  free(store);
}
