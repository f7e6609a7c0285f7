/// The beginning of every page of `feed serve`.
enum PageHead {
  /// - Parameters:
  ///   - title: markup, before the program's name.
  ///   - colors: the color schemes of the page.
  static func beginning(_ title: String, colors: String) -> String {
    """
    <!doctype html>
    <html lang="en">
    <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <meta name="color-scheme" content="\(colors)">
    <title>\(title) · feed</title>
    <link rel="stylesheet" href="/style.css">
    <link rel="icon" href="/icon.svg">
    """
  }
}
