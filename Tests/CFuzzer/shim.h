#ifndef CFUZZER_SHIM_H
#define CFUZZER_SHIM_H
#include <stddef.h>
#include <stdint.h>
/* libFuzzer's, whose archive has no header. */
int LLVMFuzzerRunDriver(int *count, char ***arguments, int (*callback)(const uint8_t *data, size_t size));
#endif
