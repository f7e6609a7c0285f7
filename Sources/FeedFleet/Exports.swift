// One import provides both the worker and the engine that it works for.
@_exported import FeedPolling
