// Code that loads feeds also uses the client and its errors: one import gives both.
@_exported import FeedHTTP
