// Requests, answers, rows, values and errors of the protocol and the store are part of the client's surface.
@_exported public import StrandlineProtocol
