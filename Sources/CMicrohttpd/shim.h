#include <microhttpd.h>
#include <string.h>

/// What a daemon is started with. Strings are read until the call returns.
struct strandline_mhd_settings {
  int listening_socket;
  unsigned thread_count;
  unsigned connection_limit;
  unsigned connection_limit_per_address;
  unsigned idle_seconds;
  size_t connection_memory;
  /// PEM; both NULL without TLS.
  const char *certificate;
  const char *key;
};

/// Leaves escapes in paths and queries as they came; in place of what would undo them.
static inline size_t strandline_mhd_keep_escapes(void *context, struct MHD_Connection *connection, char *text) {
  (void)context;
  (void)connection;
  return strlen(text);
}

/// MHD_start_daemon is variadic, and half of its options are pairs of a callback and its context.
static inline struct MHD_Daemon *strandline_mhd_start(
    const struct strandline_mhd_settings *settings, MHD_AccessHandlerCallback handler,
    void *(*began)(void *context, const char *target, struct MHD_Connection *connection),
    MHD_RequestCompletedCallback completed, MHD_NotifyConnectionCallback notified, void *context) {
  unsigned flags = MHD_USE_EPOLL_INTERNAL_THREAD | MHD_ALLOW_SUSPEND_RESUME;
  struct MHD_OptionItem tls[3] = {{MHD_OPTION_END, 0, NULL}, {MHD_OPTION_END, 0, NULL}, {MHD_OPTION_END, 0, NULL}};
  if (settings->certificate && settings->key) {
    flags |= MHD_USE_TLS;
    tls[0] = (struct MHD_OptionItem){MHD_OPTION_HTTPS_MEM_CERT, 0, (void *)settings->certificate};
    tls[1] = (struct MHD_OptionItem){MHD_OPTION_HTTPS_MEM_KEY, 0, (void *)settings->key};
  }
  return MHD_start_daemon(
      flags, 0, NULL, NULL, handler, context, MHD_OPTION_LISTEN_SOCKET, settings->listening_socket,
      MHD_OPTION_THREAD_POOL_SIZE, settings->thread_count, MHD_OPTION_CONNECTION_LIMIT, settings->connection_limit,
      MHD_OPTION_PER_IP_CONNECTION_LIMIT, settings->connection_limit_per_address, MHD_OPTION_CONNECTION_TIMEOUT,
      settings->idle_seconds, MHD_OPTION_CONNECTION_MEMORY_LIMIT, settings->connection_memory,
      MHD_OPTION_URI_LOG_CALLBACK, began, context, MHD_OPTION_NOTIFY_COMPLETED, completed, context, MHD_OPTION_NOTIFY_CONNECTION, notified, context,
      MHD_OPTION_UNESCAPE_CALLBACK, strandline_mhd_keep_escapes, NULL, MHD_OPTION_STRICT_FOR_CLIENT, 1,
      MHD_OPTION_ARRAY, tls, MHD_OPTION_END);
}

/// -1 where there is none.
static inline int strandline_mhd_socket(struct MHD_Connection *connection) {
  const union MHD_ConnectionInfo *info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
  return info ? info->connect_fd : -1;
}

/// What the callback of a connection's start has left for it.
static inline void *strandline_mhd_socket_context(struct MHD_Connection *connection) {
  const union MHD_ConnectionInfo *info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
  return info ? info->socket_context : NULL;
}

/// Lives as long as the connection; NULL where it is not known.
static inline const struct sockaddr *strandline_mhd_peer(struct MHD_Connection *connection) {
  const union MHD_ConnectionInfo *info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
  return info ? info->client_addr : NULL;
}

/// The code of a connection's start; the other code is that of its end.
static const unsigned strandline_mhd_started = MHD_CONNECTION_NOTIFY_STARTED;
