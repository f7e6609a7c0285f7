// A request's method is part of this module's interface.
@_exported public import FeedHTTPTypes
