// Values of rows and of messages stand in what a run reports.
@_exported public import StrandlineProtocol
