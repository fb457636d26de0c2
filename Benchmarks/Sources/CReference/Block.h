// What both halves of the reference log agree on.
#ifndef BLOCK_H
#define BLOCK_H

#include <errno.h>
#include <stdint.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "CReference.h"

// A commit is one or more blocks. A block:
//
//  byte 0       4        8       12     16         24    32
//       +-------+--------+-------+------+----------+-----+- - - - -+- - -+
//       | magic | stored | raw   | rows | sequence | tag | payload | pad |   payload: rows, each behind a 16-bit length
//       +-------+--------+-------+------+----------+-----+- - - - -+- - -+   stored == raw: not compressed
//
// Blocks begin on 8-byte boundaries. The tag is XXH3 of the stored payload, seeded with the sizes, and the number of
// the commit mixed in last: it is given under the lock, the rest of the work is done before.
typedef struct {
  uint32_t magic;
  uint32_t stored;
  uint32_t raw;
  uint32_t rows;
  uint64_t sequence;
  uint64_t tag;
} block_header;

enum {
  block_magic = 0x1a0a0d52,
  block_raw_max = 64 << 10,
  block_stored_max = block_raw_max + 512,  // LZ4_compressBound(64 KiB)
  row_prefix = 2,
  key_offset = 2,
  row_byte_count_min = row_prefix + key_offset + 16,
};

static inline uint64_t block_payload_tag(const block_header *header) {
  uint64_t seed = ((uint64_t)header->stored << 32 | header->raw) ^ ((uint64_t)header->rows << 48);
  return XXH3_64bits_withSeed(header + 1, header->stored, seed);
}

static inline uint64_t block_sequence_mix(uint64_t sequence) { return sequence * 0x9e3779b97f4a7c15u; }

static inline size_t block_byte_count(const block_header *header) {
  return sizeof *header + ((header->stored + 7u) & ~7u);
}

static inline uint64_t now_ns(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

static inline int write_all(int file, const void *bytes, size_t count, off_t offset) {
  const uint8_t *next = bytes;
  while (count > 0) {
    ssize_t written = pwrite(file, next, count, offset);
    if (written < 0) return errno;
    next += written;
    offset += written;
    count -= (size_t)written;
  }
  return 0;
}

#endif
