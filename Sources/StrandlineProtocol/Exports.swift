// Rows, values and errors of the store are part of the messages.
@_exported public import Strandline
