// Code that polls feeds also uses them, so one import provides both.
@_exported import ImageFeed
