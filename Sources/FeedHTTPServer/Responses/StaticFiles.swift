import CLibrary
internal import FeedStream

/// The files of a folder, for GET and HEAD: with types, dates, entity tags, conditions and ranges.
///
///     routes.files("/assets", in: "public")
///
/// A path can refer only to a file in the folder or its subfolders: `..`, empty parts, names that begin with a dot,
/// backslashes, and bytes that are not UTF-8 get status 404. Each part is opened relative to the part before it, so
/// that no part can be replaced in between. A folder is served as its `index.html`; if it has none, the status is
/// 404. A folder's path without the final slash is redirected to the path with the slash, so that relative links
/// work. All disk access runs off the loop.
public struct StaticFiles: Sendable {
  /// The treatment of symbolic links below the folder.
  public enum Links: Sendable {
    /// Links get status 404.
    case refused
    /// Links are followed, wherever they lead: use this only for folders that nobody else can write to.
    case followed
  }

  let folder: String
  let links: Links
  let cacheControl: String

  /// - Parameters:
  ///   - folder: the path of the folder.
  ///   - links: the treatment of symbolic links; refused by default.
  ///   - cacheControl: the value of `Cache-Control`; by default, clients revalidate each time.
  public init(_ folder: String, links: Links = .refused, cacheControl: String = "no-cache") {
    self.folder = folder
    self.links = links
    self.cacheControl = cacheControl
  }

  /// The response to a request for `path`, which is the rest of the path after the route's own part, still escaped.
  ///
  /// - Parameters:
  ///   - whole: the whole path.
  ///   - query: the request's query, for a response that redirects the client.
  func response(
    to path: Substring, of whole: String, query: String? = nil, on scheduler: any LoopScheduler
  ) -> AnyPublisher<ServerResponse, any Error> {
    guard let parts = Self.parts(path) else { return Fail(error: HTTPStatus.notFound).eraseToAnyPublisher() }
    return Deferred {
      var job: (any Cancellable)?
      return Future<ServerResponse, any Error> { promise in
        job = scheduler.offload { [self] in
          open(parts)
        } completion: { found in
          switch found {
          case nil: promise(.failure(HTTPStatus.notFound))
          case .file(let file)? where !path.isEmpty: promise(.success(response(to: file, scheduler)))
          case .folder? where path.isEmpty || path.hasSuffix("/"): promise(.failure(HTTPStatus.notFound))
          case .file?, .folder?:
            // The redirect is relative and begins with a dot, because a name may contain a colon.
            let name = whole[whole.index(after: whole.lastIndex(of: "/")!)...]
            let place = "./\(name)/" + (query.map { "?" + $0 } ?? "")
            promise(.success(.redirect(to: place, .movedPermanently)))
          }
        }
      }
      .handleEvents(receiveCancel: { job?.cancel() })
    }
    .eraseToAnyPublisher()
  }

  /// The names in the path; `nil` if the path leads out of the folder.
  static func parts(_ path: Substring) -> [String]? {
    guard let path = Percent.decoded(path), !path.utf8.contains(0) else { return nil }
    // Split by bytes, as the system does: to Swift, a slash followed by a combining mark is one character.
    var parts = path.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
      .map { String(Substring($0)) }
    if parts.first == "" { parts.removeFirst() }
    if parts.last == "" || parts.isEmpty {
      if !parts.isEmpty { parts.removeLast() }
      parts.append("index.html")
    }
    // This also refuses `..`, and backslashes, which separate parts on other systems.
    let isOdd = parts.contains {
      $0.isEmpty || $0.utf8.first == UInt8(ascii: ".") || $0.utf8.contains(UInt8(ascii: "\\"))
    }
    guard !isOdd else { return nil }
    return parts
  }

  private enum Found: Sendable {
    case file(FoundFile)
    /// A folder, which is served as its `index.html`.
    case folder
  }

  private struct FoundFile: Sendable {
    let file: ServedFile
    let size: Int64
    let modified: Int64
    let tag: String
    let name: String
    /// The bytes of a small file, which is read immediately.
    let bytes: Chunk?
  }

  /// Opens a file in the folder; blocks until the file is open.
  private func open(_ parts: [String]) -> Found? {
    let noFollow = links == .refused ? O_NOFOLLOW : 0
    var directory = openFile(AT_FDCWD, folder, O_DIRECTORY)
    for part in parts.dropLast() {
      guard let parent = directory else { return nil }
      directory = openFile(parent.descriptor, part, O_DIRECTORY | noFollow)
    }
    // `O_NONBLOCK`, because opening a pipe would otherwise block.
    guard let directory, let file = openFile(directory.descriptor, parts.last!, noFollow | O_NONBLOCK) else {
      return nil
    }
    var status = stat()
    guard fstat(file.descriptor, &status) == 0 else { return nil }
    if status.st_mode & S_IFMT == S_IFDIR {
      return openFile(file.descriptor, "index.html", noFollow | O_NONBLOCK).map { _ in .folder }
    }
    guard status.st_mode & S_IFMT == S_IFREG else { return nil }
    let size = Int64(status.st_size)
    #if canImport(Darwin)
      let time = status.st_mtimespec
    #else
      let time = status.st_mtim
    #endif
    let tag =
      "\"\(String(size, radix: 36))-\(String(Int64(time.tv_sec), radix: 36))-\(String(Int64(time.tv_nsec), radix: 36))\""
    let bytes = size <= 64 * 1024 ? file.read(0..<size) : nil
    return .file(
      FoundFile(
        file: file, size: size, modified: Int64(time.tv_sec), tag: tag, name: parts.last!,
        bytes: bytes?.count == Int(size) ? bytes : nil))
  }

  private func openFile(_ parent: Int32, _ name: String, _ flags: Int32) -> ServedFile? {
    while true {
      let descriptor = openat(parent, name, O_RDONLY | O_CLOEXEC | flags)
      if descriptor >= 0 { return ServedFile(descriptor) }
      guard errno == EINTR else { return nil }
    }
  }

  private func response(to found: FoundFile, _ scheduler: any LoopScheduler) -> ServerResponse {
    let headers: HTTPHeaders = [
      "Content-Type": Self.type(of: found.name), "X-Content-Type-Options": "nosniff",
      "Cache-Control": cacheControl, "ETag": found.tag, "Last-Modified": HTTPDate.text(found.modified),
      "Accept-Ranges": "bytes",
    ]
    if let bytes = found.bytes { return ServerResponse(.ok, headers: headers, body: .bytes(bytes)) }
    let body = FileBody(file: found.file, range: 0..<found.size, scheduler: scheduler)
    return ServerResponse(.ok, headers: headers, body: .file(body))
  }

  static func type(of name: String) -> String {
    guard let dot = name.lastIndex(of: ".") else { return "application/octet-stream" }
    return types[name[name.index(after: dot)...].lowercased()] ?? "application/octet-stream"
  }

  private static let types = [
    "html": "text/html; charset=utf-8", "htm": "text/html; charset=utf-8", "css": "text/css; charset=utf-8",
    "js": "text/javascript; charset=utf-8", "mjs": "text/javascript; charset=utf-8", "json": "application/json",
    "xml": "application/xml", "txt": "text/plain; charset=utf-8", "md": "text/markdown; charset=utf-8",
    "csv": "text/csv; charset=utf-8", "svg": "image/svg+xml", "png": "image/png", "jpg": "image/jpeg",
    "jpeg": "image/jpeg", "gif": "image/gif", "webp": "image/webp", "avif": "image/avif", "ico": "image/x-icon",
    "woff2": "font/woff2", "woff": "font/woff", "wasm": "application/wasm", "pdf": "application/pdf",
    "mp3": "audio/mpeg", "mp4": "video/mp4", "webm": "video/webm", "zip": "application/zip", "gz": "application/gzip",
    "atom": "application/atom+xml", "rss": "application/rss+xml", "webmanifest": "application/manifest+json",
  ]
}
