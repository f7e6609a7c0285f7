// The worker and the engine that it works for: one import gives both.
@_exported import FeedPolling
