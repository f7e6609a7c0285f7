#include <stddef.h>
#include <stdint.h>

// libFuzzer, for a program that has a main of its own: https://llvm.org/docs/LibFuzzer.html#using-libfuzzer-as-a-library
int LLVMFuzzerRunDriver(int *argc, char ***argv, int (*runOne)(const uint8_t *data, size_t size));
