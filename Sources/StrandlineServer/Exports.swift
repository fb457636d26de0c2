// Messages, rows and errors are part of the server's surface.
@_exported public import StrandlineProtocol
