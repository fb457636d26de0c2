// Positions, sequence numbers, reports and options of the log are part of the store's surface: who imports the store has them too.
@_exported public import StrandlineLog
