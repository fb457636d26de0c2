// What a recovery is made of, each part alone: the bound that the reference is held against.
#define _GNU_SOURCE
#include <fcntl.h>
#include <lz4.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "Block.h"
#include "KeyTable.h"

enum { read_byte_count = 1 << 20, prefetch_distance = 16 };

static double seconds_since(uint64_t begun) { return (double)(now_ns() - begun) / 1e9; }

int reference_raw_read(const char *path, uint64_t *byte_count, double *seconds) {
  int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return errno;
  uint8_t *buffer = malloc(read_byte_count);
  memset(buffer, 0, read_byte_count);
  uint64_t begun = now_ns(), total = 0;
  int failure = 0;
  for (;;) {
    ssize_t count = pread(file, buffer, read_byte_count, (off_t)total);
    if (count < 0) failure = errno;
    if (count <= 0) break;
    total += (uint64_t)count;
  }
  *seconds = seconds_since(begun);
  *byte_count = total;
  free(buffer);
  close(file);
  return failure;
}

static bool is_block(const uint8_t *bytes, uint64_t at, uint64_t count) {
  if (at + sizeof(block_header) > count) return false;
  const block_header *header = (const block_header *)(bytes + at);
  return header->magic == block_magic && header->raw <= block_raw_max && header->stored <= block_stored_max &&
         at + block_byte_count(header) <= count;
}

int reference_measure_parts(const char *path, uint64_t expected_row_count, reference_parts *parts) {
  uint64_t count;
  int failure = reference_raw_read(path, &count, &parts->read_seconds);
  if (failure != 0) return failure;

  uint8_t *bytes = reference_map(count + 1);
  uint64_t(*keys)[2] = reference_map((expected_row_count + 1) * sizeof *keys);
  int file = open(path, O_RDONLY | O_CLOEXEC);
  if (bytes == NULL || keys == NULL || file < 0) return ENOMEM;
  for (uint64_t at = 0; at < count;) {
    ssize_t got = pread(file, bytes + at, count - at, (off_t)at);
    if (got <= 0) return EIO;
    at += (uint64_t)got;
  }
  close(file);

  uint64_t begun = now_ns();
  uint64_t wrong = 0;
  for (uint64_t at = 0; is_block(bytes, at, count);) {
    const block_header *header = (const block_header *)(bytes + at);
    wrong += header->tag != (block_payload_tag(header) ^ block_sequence_mix(header->sequence));
    at += block_byte_count(header);
  }
  parts->xxh3_seconds = seconds_since(begun);

  uint8_t *raw = malloc(block_raw_max);
  memset(raw, 0, block_raw_max);
  uint64_t raw_count = 0;
  begun = now_ns();
  for (uint64_t at = 0; is_block(bytes, at, count);) {
    const block_header *header = (const block_header *)(bytes + at);
    if (header->stored == header->raw)
      memcpy(raw, header + 1, header->raw);
    else
      wrong += LZ4_decompress_safe(
                   (const char *)(header + 1), (char *)raw, (int)header->stored, (int)header->raw) != (int)header->raw;
    raw_count += header->raw;
    at += block_byte_count(header);
  }
  parts->lz4_seconds = seconds_since(begun);

  // Keys for the table: gathered in a walk of their own that is not timed.
  uint64_t key_count = 0;
  for (uint64_t at = 0; is_block(bytes, at, count);) {
    const block_header *header = (const block_header *)(bytes + at);
    const uint8_t *row = raw;
    if (header->stored == header->raw)
      row = (const uint8_t *)(header + 1);
    else
      LZ4_decompress_safe((const char *)(header + 1), (char *)raw, (int)header->stored, (int)header->raw);
    for (uint32_t left = header->rows; left > 0 && key_count < expected_row_count; left--) {
      uint16_t length;
      memcpy(&length, row, row_prefix);
      memcpy(keys[key_count++], row + row_prefix + key_offset, 16);
      row += row_prefix + length;
    }
    at += block_byte_count(header);
  }
  key_table table;
  if (!key_table_init(&table, expected_row_count)) return ENOMEM;
  memset(table.slots, 0, (table.mask + 1) * sizeof *table.slots);
  begun = now_ns();
  for (uint64_t i = 0; i < key_count; i++) {
    if (i + prefetch_distance < key_count)
      reference_prefetch(key_table_home(&table, key_hash(keys[i + prefetch_distance])));
    key_table_insert(&table, keys[i], key_hash(keys[i]), i + 1);
  }
  parts->insert_seconds = seconds_since(begun);
  if (table.count > key_count) wrong++;

  uint64_t touched_count = raw_count + (table.mask + 1) * sizeof *table.slots;
  uint8_t *touched = reference_map(touched_count);
  if (touched == NULL) return ENOMEM;
  begun = now_ns();
  for (uint64_t at = 0; at < touched_count; at += 4096) ((volatile uint8_t *)touched)[at] = 1;
  parts->touch_seconds = seconds_since(begun);
  reference_unmap(touched, touched_count);

  key_table_free(&table);
  free(raw);
  reference_unmap(keys, (expected_row_count + 1) * sizeof *keys);
  reference_unmap(bytes, count + 1);
  return wrong == 0 ? 0 : EBADMSG;
}

int reference_raw_append(
    const char *path, uint64_t commit_count, uint64_t byte_count, bool synced, uint64_t *nanoseconds, double *seconds) {
  int file = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  if (file < 0) return errno;
  static const uint8_t zeros[1 << 20];
  int failure = 0;
  for (uint64_t at = 0; failure == 0 && at < commit_count * byte_count; at += sizeof zeros)
    failure = write_all(file, zeros, sizeof zeros, (off_t)at);
  if (failure == 0 && fsync(file) != 0) failure = errno;
  uint8_t *bytes = malloc(byte_count);
  for (uint64_t i = 0; i < byte_count; i++) bytes[i] = (uint8_t)(i * 167 + 13);

  uint64_t first = now_ns(), begun = first;
  for (uint64_t i = 0; failure == 0 && i < commit_count; i++) {
    failure = write_all(file, bytes, byte_count, (off_t)(i * byte_count));
    if (failure == 0 && synced && fdatasync(file) != 0) failure = errno;
    uint64_t ended = now_ns();
    if (nanoseconds != NULL) nanoseconds[i] = ended - begun;
    begun = ended;
  }
  if (failure == 0 && !synced && fdatasync(file) != 0) failure = errno;
  *seconds = seconds_since(first);
  free(bytes);
  close(file);
  return failure;
}
