import CLibrary

/// A folder of the operating system.
final class SystemFolder: OpenFolder {
  #if canImport(Darwin)
    private typealias Stream = UnsafeMutablePointer<DIR>
  #else
    private typealias Stream = OpaquePointer
  #endif

  private let stream: Stream
  private let path: String

  /// - Parameter root: see ``FileSystem/openFolder(_:below:)``.
  init(_ path: String, below root: String?) throws(SystemError) {
    guard !path.utf8.contains(0) else { throw SystemError("read the folder", path, code: EINVAL) }
    var descriptor = System.open(root ?? path, O_RDONLY | O_DIRECTORY)
    // A link may replace any of these folders, so open one in another.
    for name in path.utf8.dropFirst((root ?? path).utf8.count).split(separator: UInt8(ascii: "/")) {
      guard descriptor >= 0 else { break }
      let above = descriptor
      descriptor = System.open(String(decoding: name, as: UTF8.self), O_RDONLY | O_DIRECTORY | O_NOFOLLOW, in: above)
      let code = errno
      System.close(above)
      errno = code
    }
    guard descriptor >= 0 else {
      let isReplaced = root != nil && (errno == ELOOP || errno == ENOTDIR)
      throw SystemError("read the folder", path, code: isReplaced ? ENOENT : errno)
    }
    guard let stream = fdopendir(descriptor) else {
      let code = errno
      System.close(descriptor)
      throw SystemError("read the folder", path, code: code)
    }
    self.stream = stream
    self.path = path
  }

  deinit { closedir(stream) }

  func next(_ limit: Int) throws(SystemError) -> [FolderEntry] {
    var entries: [FolderEntry] = []
    while entries.count < limit {
      errno = 0
      guard let entry = readdir(stream) else {
        if errno != 0 { throw SystemError("read the folder", path, code: errno) }
        break
      }
      // Read the name in place: copying the entry would read too far, because an entry may be shorter than its type.
      let offset = MemoryLayout<dirent>.offset(of: \.d_name)!
      let bytes = UnsafeRawPointer(entry).advanced(by: offset).assumingMemoryBound(to: CChar.self)
      let exact = String(validatingCString: bytes)
      let name = exact ?? String(cString: bytes)
      if name == "." || name == ".." { continue }
      let place = path.hasSuffix("/") ? path + name : path + "/" + name
      entries.append(FolderEntry(path: place, kind: Self.kind(of: entry.pointee.d_type, place), isExact: exact != nil))
    }
    return entries
  }

  private static func kind(of type: UInt8, _ path: String) -> FolderEntry.Kind {
    switch Int(type) {
    case Int(DT_REG): return .file
    case Int(DT_DIR): return .folder
    case Int(DT_LNK): return .link
    case Int(DT_UNKNOWN):
      // Some file systems don't report the type.
      var status = stat()
      guard lstat(path, &status) == 0 else { return .other }
      switch status.st_mode & S_IFMT {
      case S_IFREG: return .file
      case S_IFDIR: return .folder
      case S_IFLNK: return .link
      default: return .other
      }
    default: return .other
    }
  }
}
