#include "CFuzzTag.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

uint64_t fuzz_tag(const void *bytes, size_t length, uint64_t seed) {
  return XXH3_64bits_withSeed(bytes, length, seed);
}
