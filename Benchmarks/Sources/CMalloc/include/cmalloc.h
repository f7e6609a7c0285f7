/// How many blocks this thread has allocated. Always zero when the executable's malloc is not the one that is called.
unsigned long allocations(void);
