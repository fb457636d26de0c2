// The reading half: read -> XXH3 -> LZ4 -> split -> hash table, on one thread or several.
#define _GNU_SOURCE
#include <fcntl.h>
#include <lz4.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "Block.h"
#include "KeyTable.h"

enum {
  // A multiple of a block, small enough that the bytes are still in the second-level cache when they are decoded.
  chunk_byte_count = 512 << 10,
  thread_count_max = 16,
  prefetch_distance = 16,
  // Rows take at most this many times the bytes of the file (LZ4 could do 255; the workload does 1.4).
  expansion_max = 8,
};

// Rows of a chunk that belong to another thread's table.
typedef struct entry_batch {
  struct entry_batch *next;
  uint32_t count;
  key_slot entries[];
} entry_batch;

// One for each thread. Its table holds the keys whose hash falls to it, so no table is shared.
typedef struct {
  struct recovery *all;
  uint32_t number;
  key_table table;
  pthread_mutex_t lock;
  entry_batch *inbox;  // from the other threads
  uint64_t row_count, raw_byte_count;
} worker;

typedef struct recovery {
  int file;
  uint64_t file_byte_count;
  uint32_t thread_count;
  bool keeps_rows;
  pthread_mutex_t lock;  // the three below
  uint64_t next_offset;
  uint64_t next_row_byte;
  uint64_t next_sequence;
  uint8_t *rows;
  uint64_t rows_byte_count;
  _Atomic bool ended;  // a block did not verify: the torn tail
  pthread_barrier_t decoded;
  worker workers[thread_count_max];
} recovery;

static void insert_all(key_table *table, const key_slot *entries, uint32_t count) {
  uint32_t ahead = count < prefetch_distance ? count : prefetch_distance;
  for (uint32_t i = 0; i < ahead; i++) reference_prefetch(key_table_home(table, key_hash(entries[i].key)));
  for (uint32_t i = 0; i < count; i++) {
    if (i + prefetch_distance < count)
      reference_prefetch(key_table_home(table, key_hash(entries[i + prefetch_distance].key)));
    key_table_insert(table, entries[i].key, key_hash(entries[i].key), entries[i].place);
  }
}

static void drain(worker *self) {
  pthread_mutex_lock(&self->lock);
  entry_batch *batch = self->inbox;
  self->inbox = NULL;
  pthread_mutex_unlock(&self->lock);
  while (batch != NULL) {
    entry_batch *next = batch->next;
    insert_all(&self->table, batch->entries, batch->count);
    free(batch);
    batch = next;
  }
}

typedef struct {
  uint8_t *bytes;
  size_t byte_count;
  uint64_t row_count;
  uint64_t row_byte;  // place for its rows
  uint64_t sequence;  // of the commit in front
} chunk;

// Takes the next run of whole blocks; false at the end.
static bool take_chunk(recovery *all, chunk *taken) {
  pthread_mutex_lock(&all->lock);
  taken->row_byte = all->next_row_byte;
  taken->sequence = all->next_sequence;
  taken->row_count = 0;
  size_t whole = 0;
  uint64_t raw = 0;
  ssize_t count = 0;
  if (!atomic_load(&all->ended)) count = pread(all->file, taken->bytes, chunk_byte_count, (off_t)all->next_offset);
  while (count > 0 && whole + sizeof(block_header) <= (size_t)count) {
    const block_header *header = (const block_header *)(taken->bytes + whole);
    if (header->magic != block_magic || header->raw > block_raw_max || header->stored > block_stored_max) break;
    if (header->rows > header->raw / row_byte_count_min) break;
    if (whole + block_byte_count(header) > (size_t)count) break;
    if (taken->row_byte + raw + header->raw > all->rows_byte_count) break;
    raw += header->raw;
    taken->row_count += header->rows;
    whole += block_byte_count(header);
    all->next_sequence = header->sequence;
  }
  all->next_offset += whole;
  if (all->keeps_rows) all->next_row_byte += raw;
  pthread_mutex_unlock(&all->lock);
  taken->byte_count = whole;
  return whole > 0;
}

static bool decode_block(const block_header *header, uint8_t *rows, uint64_t sequence) {
  // A commit may have several blocks; its number stays or goes up by one.
  if (header->sequence != sequence && header->sequence != sequence + 1) return false;
  if (header->tag != (block_payload_tag(header) ^ block_sequence_mix(header->sequence))) return false;
  if (header->stored == header->raw) {
    memcpy(rows, header + 1, header->raw);
    return true;
  }
  int raw = LZ4_decompress_safe((const char *)(header + 1), (char *)rows, (int)header->stored, (int)header->raw);
  return raw == (int)header->raw;
}

static void give(worker *owner, entry_batch *batch) {
  pthread_mutex_lock(&owner->lock);
  batch->next = owner->inbox;
  owner->inbox = batch;
  pthread_mutex_unlock(&owner->lock);
}

static void *recover_share(void *argument) {
  worker *self = argument;
  recovery *all = self->all;
  chunk taken = {.bytes = malloc(chunk_byte_count)};
  uint8_t *passing = all->keeps_rows ? NULL : malloc(block_raw_max);
  key_slot *own = malloc(block_raw_max / row_byte_count_min * sizeof *own);
  while (take_chunk(all, &taken)) {
    entry_batch *others[thread_count_max] = {0};
    for (uint32_t i = 0; i < all->thread_count; i++) {
      if (i == self->number || !all->keeps_rows) continue;
      others[i] = malloc(sizeof(entry_batch) + taken.row_count * sizeof(key_slot));
      others[i]->count = 0;
    }
    uint8_t *rows = all->keeps_rows ? all->rows + taken.row_byte : passing;
    for (size_t at = 0; at < taken.byte_count;) {
      const block_header *header = (const block_header *)(taken.bytes + at);
      if (!decode_block(header, rows, taken.sequence)) {
        atomic_store(&all->ended, true);
        break;
      }
      taken.sequence = header->sequence;
      uint32_t own_count = 0;
      const uint8_t *row = rows, *end = rows + header->raw;
      for (uint32_t left = header->rows; left > 0; left--) {
        uint16_t length;
        memcpy(&length, row, row_prefix);
        if (row + row_prefix + length > end || length + row_prefix < row_byte_count_min) break;
        if (all->keeps_rows) {
          key_slot entry = {.place = (uint64_t)row};
          memcpy(entry.key, row + row_prefix + key_offset, sizeof entry.key);
          // The table's home is in the upper bits; the owner is in the lower.
          uint32_t owner = (uint32_t)((key_hash(entry.key) & 0xffff) * all->thread_count >> 16);
          if (owner == self->number)
            own[own_count++] = entry;
          else
            others[owner]->entries[others[owner]->count++] = entry;
        }
        row += row_prefix + length;
        self->row_count++;
      }
      insert_all(&self->table, own, own_count);
      self->raw_byte_count += header->raw - (uint64_t)header->rows * row_prefix;
      if (all->keeps_rows) rows += header->raw;
      at += block_byte_count(header);
    }
    for (uint32_t i = 0; i < all->thread_count; i++)
      if (others[i] != NULL) give(&all->workers[i], others[i]);
    drain(self);
  }
  if (all->thread_count > 1) pthread_barrier_wait(&all->decoded);
  drain(self);
  free(taken.bytes);
  free(passing);
  free(own);
  return NULL;
}

static uint64_t state_hash(const recovery *all, uint64_t *live) {
  uint64_t hash = 0;
  *live = 0;
  for (uint32_t i = 0; i < all->thread_count; i++) {
    const key_table *table = &all->workers[i].table;
    for (uint64_t slot = 0; slot <= table->mask; slot++) {
      if (table->slots[slot].place == 0) continue;
      const uint8_t *row = (const uint8_t *)table->slots[slot].place;
      uint16_t length;
      memcpy(&length, row, row_prefix);
      hash += XXH3_64bits(row + row_prefix, length);
      *live += 1;
    }
  }
  return hash;
}

int reference_recover(
    const char *path, uint64_t expected_row_count, uint32_t thread_count, bool keeps_rows, reference_recovery *result) {
  if (thread_count == 0 || thread_count > thread_count_max) return EINVAL;
  uint64_t begun = now_ns();
  recovery *all = calloc(1, sizeof *all);
  all->file = open(path, O_RDONLY | O_CLOEXEC);
  if (all->file < 0) {
    int failure = errno;
    free(all);
    return failure;
  }
  struct stat status;
  fstat(all->file, &status);
  all->file_byte_count = (uint64_t)status.st_size;
  all->thread_count = thread_count;
  all->keeps_rows = keeps_rows;
  all->rows_byte_count = all->file_byte_count * expansion_max;
  all->rows = keeps_rows ? reference_map(all->rows_byte_count) : NULL;
  pthread_mutex_init(&all->lock, NULL);
  pthread_barrier_init(&all->decoded, NULL, thread_count);
  for (uint32_t i = 0; i < thread_count; i++) {
    worker *worker = &all->workers[i];
    worker->all = all;
    worker->number = i;
    pthread_mutex_init(&worker->lock, NULL);
    uint64_t share = keeps_rows ? expected_row_count / thread_count : 0;
    if (!key_table_init(&worker->table, share)) abort();
  }
  pthread_t threads[thread_count_max];
  for (uint32_t i = 1; i < thread_count; i++)
    if (pthread_create(&threads[i], NULL, recover_share, &all->workers[i]) != 0) abort();
  recover_share(&all->workers[0]);
  for (uint32_t i = 1; i < thread_count; i++) pthread_join(threads[i], NULL);
  *result = (reference_recovery){.seconds = (double)(now_ns() - begun) / 1e9};

  result->peak_resident_byte_count = reference_peak_resident_byte_count();
  result->file_byte_count = all->next_offset;
  for (uint32_t i = 0; i < thread_count; i++) {
    result->row_count += all->workers[i].row_count;
    result->raw_byte_count += all->workers[i].raw_byte_count;
  }
  if (keeps_rows) {
    result->state_hash = state_hash(all, &result->live_row_count);
  } else {
    result->state_hash = XXH3_64bits(&result->row_count, sizeof result->row_count);
  }
  for (uint32_t i = 0; i < thread_count; i++) {
    key_table_free(&all->workers[i].table);
    pthread_mutex_destroy(&all->workers[i].lock);
  }
  pthread_barrier_destroy(&all->decoded);
  pthread_mutex_destroy(&all->lock);
  reference_unmap(all->rows, all->rows_byte_count);
  close(all->file);
  free(all);
  return 0;
}
