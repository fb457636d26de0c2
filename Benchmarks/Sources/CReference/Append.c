// The writing half: group commit with a leader that writes and syncs for all who wait.
#define _GNU_SOURCE
#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <lz4.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/syscall.h>

#include "Block.h"

enum {
  lz4_raw_min = 4096,
  step_ahead = 1 << 20,
  zero_fill_group_max = 64 << 10,
  sync_interval_ns = 100000000,
};

typedef struct {
  uint8_t *bytes;
  size_t count, capacity;
} byte_buffer;

// Synced commits gather in `filling`. The first to put bytes into a group leads it: it waits for the group before to
// end, closes its own group, writes and syncs it, hands the lead on, and only then wakes those who wait for its group.
typedef struct {
  int file;
  bool synced;
  pthread_mutex_t lock;
  byte_buffer filling, writing;
  uint32_t group;                    // number of the group being filled
  uint32_t group_size;               // commits in it
  uint64_t next_sequence;
  _Atomic uint32_t ended;            // groups that are written, and synced where that was asked for; a futex
  _Atomic bool leader_waits;         // for `ended`
  _Atomic uint32_t done[2];          // the same by parity of the group, so that a wake reaches its own group only
  uint64_t tail;                     // only the leader
  uint64_t allocated;                // only the leader
  _Atomic int failure;
} group_log;

static void futex_wait(_Atomic uint32_t *word, uint32_t seen) {
  syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, seen, NULL, NULL, 0);
}

static void futex_wake(_Atomic uint32_t *word, int count) {
  syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, count, NULL, NULL, 0);
}

static bool buffer_reserve(byte_buffer *buffer, size_t more) {
  if (buffer->count + more <= buffer->capacity) return true;
  size_t capacity = (buffer->count + more) * 2;
  uint8_t *bytes = realloc(buffer->bytes, capacity);
  if (bytes == NULL) return false;
  buffer->bytes = bytes;
  buffer->capacity = capacity;
  return true;
}

// Space that was written before is synced without metadata. Large groups gain nothing: zeros would double their bytes.
static int fill_ahead(group_log *log, size_t group_byte_count) {
  static const uint8_t zeros[64 << 10];
  if (group_byte_count >= zero_fill_group_max) return 0;
  while (log->tail + group_byte_count > log->allocated) {
    if (log->allocated < log->tail) log->allocated = log->tail;
    for (size_t done = 0; done < step_ahead; done += sizeof zeros) {
      int failure = write_all(log->file, zeros, sizeof zeros, (off_t)(log->allocated + done));
      if (failure != 0) return failure;
    }
    log->allocated += step_ahead;
  }
  return 0;
}

static int write_group(group_log *log, const byte_buffer *group) {
  int failure = fill_ahead(log, group->count);
  if (failure == 0) failure = write_all(log->file, group->bytes, group->count, (off_t)log->tail);
  if (failure != 0) return failure;
  log->tail += group->count;
  if (log->synced && fdatasync(log->file) != 0) return errno;
  return 0;
}

static void commit(group_log *log, byte_buffer *frame) {
  pthread_mutex_lock(&log->lock);
  uint64_t sequence = log->next_sequence++;
  for (size_t at = 0; at < frame->count;) {
    block_header *header = (block_header *)(frame->bytes + at);
    header->sequence = sequence;
    header->tag ^= block_sequence_mix(sequence);
    at += block_byte_count(header);
  }
  if (!log->synced) {
    // Nothing to wait for together: the write is as short as a hand-over.
    int failure = write_group(log, frame);
    if (failure != 0) atomic_store(&log->failure, failure);
    pthread_mutex_unlock(&log->lock);
    return;
  }
  if (!buffer_reserve(&log->filling, frame->count)) abort();
  memcpy(log->filling.bytes + log->filling.count, frame->bytes, frame->count);
  log->filling.count += frame->count;
  uint32_t group = log->group;
  bool leads = log->group_size++ == 0;
  pthread_mutex_unlock(&log->lock);

  if (!leads) {
    for (;;) {
      uint32_t seen = atomic_load(&log->done[group & 1]);
      if ((int32_t)(seen - group) > 0) return;
      futex_wait(&log->done[group & 1], seen);
    }
  }
  while (atomic_load(&log->ended) != group) {
    atomic_store(&log->leader_waits, true);
    uint32_t ended = atomic_load(&log->ended);
    if (ended != group) futex_wait(&log->ended, ended);
  }
  atomic_store(&log->leader_waits, false);
  pthread_mutex_lock(&log->lock);
  byte_buffer swap = log->writing;
  log->writing = log->filling;
  log->filling = swap;
  log->filling.count = 0;
  bool alone = log->group_size == 1;
  log->group_size = 0;
  log->group++;
  pthread_mutex_unlock(&log->lock);

  int failure = write_group(log, &log->writing);
  if (failure != 0) atomic_store(&log->failure, failure);

  atomic_store(&log->ended, group + 1);
  if (atomic_load(&log->leader_waits)) futex_wake(&log->ended, 1);
  atomic_store(&log->done[group & 1], group + 1);
  if (!alone) futex_wake(&log->done[group & 1], INT_MAX);
}

// Rows -> blocks of whole rows, at most 64 KiB each, compressed from 4 KiB up where that saves a sixteenth.
static bool compose(byte_buffer *frame, uint8_t *raw, const reference_rows *rows, uint64_t first, uint64_t end) {
  frame->count = 0;
  while (first < end) {
    size_t used = 0;
    uint32_t count = 0;
    for (; first < end; first++, count++) {
      size_t length = rows->offsets[first + 1] - rows->offsets[first];
      if (used + row_prefix + length > block_raw_max) break;
      uint16_t prefix = (uint16_t)length;
      memcpy(raw + used, &prefix, row_prefix);
      memcpy(raw + used + row_prefix, rows->bytes + rows->offsets[first], length);
      used += row_prefix + length;
    }
    if (count == 0) return false;  // a row that no block holds
    if (!buffer_reserve(frame, sizeof(block_header) + block_stored_max + 8)) return false;
    block_header *header = (block_header *)(frame->bytes + frame->count);
    uint8_t *payload = (uint8_t *)(header + 1);
    int stored = 0;
    if (used >= lz4_raw_min)
      stored = LZ4_compress_default((const char *)raw, (char *)payload, (int)used, block_stored_max);
    if (stored <= 0 || (size_t)stored > used - used / 16) {
      memcpy(payload, raw, used);
      stored = (int)used;
    }
    memset(payload + stored, 0, 8);
    *header = (block_header){block_magic, (uint32_t)stored, (uint32_t)used, count, 0, 0};
    header->tag = block_payload_tag(header);
    frame->count += block_byte_count(header);
  }
  return true;
}

typedef struct {
  group_log *log;
  const reference_rows *rows;
  reference_append_plan plan;
  uint32_t number;
  uint64_t *nanoseconds;
  pthread_barrier_t *start;
  // The threads look at the clock themselves: on a busy machine the thread that waits for them may be late.
  uint64_t begun_at, ended_at;
} writer;

static void *write_rows(void *argument) {
  writer *self = argument;
  byte_buffer frame = {0};
  uint8_t *raw = malloc(block_raw_max);
  uint64_t commits = (self->rows->count + self->plan.rows_per_commit - 1) / self->plan.rows_per_commit;
  pthread_barrier_wait(self->start);
  self->begun_at = now_ns();
  for (uint64_t i = self->number; i < commits; i += self->plan.thread_count) {
    uint64_t first = i * self->plan.rows_per_commit;
    uint64_t end = first + self->plan.rows_per_commit;
    if (end > self->rows->count) end = self->rows->count;
    uint64_t begun = now_ns();
    if (!compose(&frame, raw, self->rows, first, end)) {
      atomic_store(&self->log->failure, EMSGSIZE);
      break;
    }
    commit(self->log, &frame);
    if (self->nanoseconds != NULL) self->nanoseconds[i] = now_ns() - begun;
    if (atomic_load_explicit(&self->log->failure, memory_order_relaxed) != 0) break;
  }
  self->ended_at = now_ns();
  free(raw);
  free(frame.bytes);
  return NULL;
}

typedef struct {
  group_log *log;
  _Atomic uint32_t stop;
} syncer;

static void *sync_in_intervals(void *argument) {
  syncer *self = argument;
  struct timespec interval = {0, sync_interval_ns};
  while (atomic_load(&self->stop) == 0) {
    syscall(SYS_futex, &self->stop, FUTEX_WAIT_PRIVATE, 0, &interval, NULL, 0);
    if (fdatasync(self->log->file) != 0) atomic_store(&self->log->failure, errno);
  }
  return NULL;
}

int reference_append(
    const char *path, reference_rows rows, reference_append_plan plan, uint64_t *nanoseconds, double *seconds) {
  if (plan.rows_per_commit == 0 || plan.thread_count == 0) return EINVAL;
  group_log log = {.synced = plan.synced, .next_sequence = 1};
  log.file = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  if (log.file < 0) return errno;
  pthread_mutex_init(&log.lock, NULL);
  pthread_barrier_t start;
  pthread_barrier_init(&start, NULL, plan.thread_count);
  // The first step is there before the clock starts, as in a log that was open already.
  int failure = fill_ahead(&log, 1);
  if (failure == 0 && fsync(log.file) != 0) failure = errno;
  atomic_store(&log.failure, failure);

  pthread_t *threads = calloc(plan.thread_count, sizeof *threads);
  writer *writers = calloc(plan.thread_count, sizeof *writers);
  for (uint32_t i = 0; i < plan.thread_count; i++) {
    writers[i] = (writer){&log, &rows, plan, i, nanoseconds, &start, 0, 0};
    if (pthread_create(&threads[i], NULL, write_rows, &writers[i]) != 0) abort();
  }
  syncer helper = {.log = &log};
  pthread_t helper_thread;
  if (!plan.synced && pthread_create(&helper_thread, NULL, sync_in_intervals, &helper) != 0) abort();

  uint64_t begun_at = UINT64_MAX, ended_at = 0;
  for (uint32_t i = 0; i < plan.thread_count; i++) {
    pthread_join(threads[i], NULL);
    if (writers[i].begun_at < begun_at) begun_at = writers[i].begun_at;
    if (writers[i].ended_at > ended_at) ended_at = writers[i].ended_at;
  }
  if (!plan.synced) {
    atomic_store(&helper.stop, 1);
    futex_wake(&helper.stop, 1);
    pthread_join(helper_thread, NULL);
    uint64_t sync_begun_at = now_ns();
    if (fdatasync(log.file) != 0) atomic_store(&log.failure, errno);
    ended_at += now_ns() - sync_begun_at;
  }
  *seconds = (double)(ended_at - begun_at) / 1e9;

  pthread_barrier_destroy(&start);
  pthread_mutex_destroy(&log.lock);
  free(threads);
  free(writers);
  free(log.filling.bytes);
  free(log.writing.bytes);
  close(log.file);
  return atomic_load(&log.failure);
}
