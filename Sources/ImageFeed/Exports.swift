// Who loads feeds speaks of the client and its errors in the same breath: one import gives both.
@_exported import FeedHTTP
