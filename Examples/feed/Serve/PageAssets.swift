/// The page's icon. The style and the script are in their own files.
enum PageAssets {
  static let icon = """
    <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16"><rect width="16" height="16" rx="3" fill="#2257a5"/>\
    <circle cx="5" cy="5" r="1.6" fill="#fff"/><path d="M2 13l4-5 3 3 2-2 3 4z" fill="#fff"/></svg>

    """
}
