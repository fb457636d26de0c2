// XXH3-64 for the fuzzer, which makes the checksums of its inputs right.
#ifndef CFUZZTAG_H
#define CFUZZTAG_H

#include <stddef.h>
#include <stdint.h>

uint64_t fuzz_tag(const void *bytes, size_t length, uint64_t seed);

#endif
