// The yardstick: a log in plain C that does only what every log must, and the parts it is made of.
//
// Writing: rows -> blocks of at most 64 KiB -> LZ4 -> XXH3 -> append -> fdatasync, one sync for all who wait.
// Reading: read -> XXH3 -> LZ4 -> split -> flat hash table, with every row held decompressed.
// No recovery rules, no reset, no segments, no checks beyond the checksum: what is missing here is what an engine adds.
//
// All functions return 0 or an errno.
#ifndef CREFERENCE_H
#define CREFERENCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

/// Rows that lie one after another in memory: row `i` is `bytes[offsets[i] ..< offsets[i + 1]]`.
///
/// Bytes 2 ..< 18 of a row are its key.
typedef struct {
  const uint8_t *bytes;
  const uint64_t *offsets;
  uint64_t count;
} reference_rows;

/// How rows are appended.
typedef struct {
  uint32_t rows_per_commit;
  /// Commit i is made by thread i mod thread_count.
  uint32_t thread_count;
  /// Each commit waits for an fdatasync that covers it. Otherwise a helper syncs every 100 ms, and the end once.
  bool synced;
} reference_append_plan;

/// Makes the file at `path` and appends all rows.
///
/// `nanoseconds` has room for one latency a commit (may be NULL). `seconds` is the time from the first commit to the
/// last, with the zero-filling ahead and the last sync inside it.
int reference_append(
    const char *path, reference_rows rows, reference_append_plan plan, uint64_t *nanoseconds, double *seconds);

/// What a recovery found and took. `state_hash` is computed behind the timed part: the sum of XXH3 over all live rows.
typedef struct {
  double seconds;
  uint64_t row_count;
  uint64_t live_row_count;
  uint64_t raw_byte_count;
  uint64_t file_byte_count;
  uint64_t state_hash;
  /// VmHWM right behind the timed part.
  uint64_t peak_resident_byte_count;
} reference_recovery;

/// Reads the file at `path` into a hash table that is sized for `expected_row_count`.
///
/// `keeps_rows` false: everything is read, proved and split, nothing is kept, and the hash covers the number of rows
/// only.
int reference_recover(
    const char *path, uint64_t expected_row_count, uint32_t thread_count, bool keeps_rows, reference_recovery *result);

/// The same bytes through each part alone, one thread, everything warm.
typedef struct {
  double read_seconds;
  double xxh3_seconds;
  double lz4_seconds;
  double insert_seconds;
  /// First touch of as much memory as rows and table take. No part of the work, but no recovery goes without it.
  double touch_seconds;
} reference_parts;

/// Measures the parts of a recovery of the file at `path`. Needs memory for the file and a table.
int reference_measure_parts(const char *path, uint64_t expected_row_count, reference_parts *parts);

/// `commit_count` times pwrite of `byte_count` bytes and fdatasync, over space that was zero-filled and synced before.
int reference_raw_append(
    const char *path, uint64_t commit_count, uint64_t byte_count, bool synced, uint64_t *nanoseconds, double *seconds);

/// Plain sequential read of the whole file through one 1 MiB buffer.
int reference_raw_read(const char *path, uint64_t *byte_count, double *seconds);

/// Copies `source` to `target`, which is made or emptied first.
int reference_copy_file(const char *source, const char *target);

/// Asks the kernel to forget the file's pages after syncing them.
int reference_drop_cache(const char *path);

/// VmHWM of this process in bytes, 0 if it cannot be read.
uint64_t reference_peak_resident_byte_count(void);

/// Memory in whole huge pages where the system has them, zeroed; NULL if there is none.
void *reference_map(size_t byte_count);
void reference_unmap(void *memory, size_t byte_count);

static inline uint64_t reference_xxh3(const void *bytes, size_t byte_count) { return XXH3_64bits(bytes, byte_count); }
static inline void reference_prefetch(const void *address) { __builtin_prefetch(address, 1); }

/// The C compiler this was built with.
const char *reference_compiler(void);

#endif
