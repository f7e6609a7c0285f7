/// How many blocks this thread has allocated. Always zero when the executable's malloc is not the one that is called.
unsigned long allocations(void);

/// How many bytes are in blocks that are not freed, in all threads.
unsigned long bytes_in_use(void);
