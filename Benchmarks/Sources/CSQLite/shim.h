#include <sqlite3.h>

/// Leaves the write-ahead log as it is when the connection closes. Here, as Swift calls no variadic functions.
static inline int csqlite_keep_log_on_close(sqlite3 *database) {
  return sqlite3_db_config(database, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, (int *)0);
}
