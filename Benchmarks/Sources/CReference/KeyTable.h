// A flat table from 16-byte keys to places: linear probing, 24-byte slots, load at most 0.6, huge pages.
#ifndef KEYTABLE_H
#define KEYTABLE_H

#include <stdint.h>
#include <string.h>

#include "CReference.h"

typedef struct {
  uint64_t key[2];
  uint64_t place;  // 0: empty
} key_slot;

typedef struct {
  key_slot *slots;
  uint64_t mask;
  uint32_t shift;
  uint64_t count;
} key_table;

static inline bool key_table_init(key_table *table, uint64_t expected) {
  uint64_t capacity = 1024;
  uint32_t bits = 10;
  while (capacity * 6 / 10 < expected) {
    capacity <<= 1;
    bits++;
  }
  table->slots = reference_map(capacity * sizeof(key_slot));
  table->mask = capacity - 1;
  table->shift = 64 - bits;
  table->count = 0;
  return table->slots != NULL;
}

static inline void key_table_free(key_table *table) {
  reference_unmap(table->slots, (table->mask + 1) * sizeof(key_slot));
}

// Keys are random UUIDs, yet nobody promises that to a table: one multiplication spreads what there is.
static inline uint64_t key_hash(const uint64_t key[2]) { return (key[0] ^ key[1]) * 0x9e3779b97f4a7c15u; }

static inline key_slot *key_table_home(const key_table *table, uint64_t hash) {
  return &table->slots[hash >> table->shift];
}

// Puts `place` under `key`. Of two places of one key the later in memory wins: rows lie in the order of the log.
static inline void key_table_insert(key_table *table, const uint64_t key[2], uint64_t hash, uint64_t place) {
  uint64_t index = hash >> table->shift;
  for (;;) {
    key_slot *slot = &table->slots[index];
    if (slot->place == 0) {
      slot->key[0] = key[0];
      slot->key[1] = key[1];
      slot->place = place;
      table->count++;
      return;
    }
    if (slot->key[0] == key[0] && slot->key[1] == key[1]) {
      if (slot->place < place) slot->place = place;
      return;
    }
    index = (index + 1) & table->mask;
  }
}

#endif
