// The store's statements on SQLite alone, in C.

typedef struct cstore cstore;

/// Opens a new file for a feed of `n` images.
cstore *cstore_open(const char *path, int n);
/// Makes up other images.
void cstore_fill(cstore *, int round);
/// Replaces what the file holds with the images.
void cstore_save(cstore *);
/// Compares the images with those in the file and writes the timestamp alone.
void cstore_renew(cstore *);
/// Reads the images into memory of their own.
void cstore_retrieve(cstore *);
void cstore_close(cstore *);
