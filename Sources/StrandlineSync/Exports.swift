@_exported public import StrandlineProtocol
