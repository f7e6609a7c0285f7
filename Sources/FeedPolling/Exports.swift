// Code that polls feeds also uses them: one import gives both.
@_exported import ImageFeed
