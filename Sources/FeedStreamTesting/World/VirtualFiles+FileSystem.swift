import FeedStream

extension String {
  /// The path as a key of the nodes: without `./` at its beginning, and without slashes at its end.
  var pathKey: String {
    // Bytes, because a slash and a combining mark after it are one character.
    var path = utf8[...]
    while path.starts(with: "./".utf8) { path = path.dropFirst(2).drop { $0 == UInt8(ascii: "/") } }
    while path.count > 1, path.last == UInt8(ascii: "/") { path.removeLast() }
    return path.isEmpty && !isEmpty ? "." : String(Substring(path))
  }

  fileprivate var endsInSlash: Bool { utf8.last == UInt8(ascii: "/") }
}

extension VirtualFiles: FileSystem {
  /// Returns the key of a path, unless the system would refuse the path.
  private func key(of path: String, _ operation: String) throws(SystemError) -> String {
    let parts = path.utf8.split(separator: UInt8(ascii: "/"))
    let code: Int32? =
      if path.utf8.contains(0) {
        22  // EINVAL
      } else if path.utf8.count >= 4_096 || parts.contains(where: { $0.count > 255 }) {
        36  // ENAMETOOLONG
      } else {
        path.isEmpty ? 2 : nil  // ENOENT
      }
    if let code { throw SystemError(operation, path, code: code) }
    return path.pathKey
  }

  package func open(_ path: String, _ opening: FileOpening) throws(SystemError) -> any OpenFile {
    let destination: String? =
      switch opening {
      case .creating(_, let destination): destination
      case .creatingExactly(_, _, let destination): destination
      case .reading, .replacing, .appending: nil
      }
    let key = try key(of: path, "open")
    if let code = fault(.open, path, replacing: destination).code { throw SystemError("open", path, code: code) }
    if fileAbove(key) != nil { throw SystemError("open", path, code: 20) }  // ENOTDIR
    // As in the system, writing to `folder/` doesn't create the folder.
    if let destination, destination.endsInSlash, nodes[destination.pathKey]?.isFolder != true {
      throw SystemError("open", path, code: 2)  // ENOENT
    }
    switch opening {
    case .reading:
      // As in the system, a folder can be opened, but reading it fails.
      guard let node = nodes[key] else { throw SystemError("open", path, code: 2) }  // ENOENT
      guard node.isFolder || !path.endsInSlash else { throw SystemError("open", path, code: 20) }  // ENOTDIR
      return VirtualFile(node, path, self)
    case .creating(let permissions, _), .creatingExactly(let permissions, _, _):
      guard nodes[key] == nil || path.endsInSlash else { throw SystemError("open", path, code: 17) }  // EEXIST
      let node = try nodeToWrite(path)
      node.permissions = permissions
      return VirtualFile(node, path, replacing: destination, self)
    case .appending: return VirtualFile(try nodeToWrite(path), path, appends: true, self)
    case .replacing:
      let node = try nodeToWrite(path)
      if !node.bytes.isEmpty {
        node.bytes = []
        touch(key, .content)
      }
      return VirtualFile(node, path, self)
    }
  }

  /// The file at a path, which is created if missing.
  private func nodeToWrite(_ path: String) throws(SystemError) -> Node {
    let node = nodes[path.pathKey]
    if node?.isFolder == true || path.endsInSlash {
      throw SystemError("open", path, code: 21)  // EISDIR
    }
    return node ?? make(path.pathKey)
  }

  package func status(of path: String) throws(SystemError) -> FileStatus? {
    guard !path.isEmpty else { return nil }
    let key = try key(of: path, "read the status of")
    guard let node = nodes[key], node.isFolder || !path.endsInSlash else { return nil }
    return node.status
  }

  package func destination(of path: String) -> String { path }

  package func rename(_ path: String, to other: String) throws(SystemError) {
    if let code = fault(.rename, other).code { throw SystemError("replace", other, code: code) }
    try replace(other.pathKey, by: path.pathKey)
  }

  package func syncFolder(of path: String) {}

  package func openFolder(_ path: String, below root: String?) throws(SystemError) -> any OpenFolder {
    let key = try key(of: path, "read the folder")
    if let code = fault(.open, path).code { throw SystemError("read the folder", path, code: code) }
    guard nodes[key]?.isFolder == true else {
      let isFile = nodes[key] != nil || fileAbove(key) != nil
      throw SystemError("read the folder", path, code: isFile && root == nil ? 20 : 2)  // ENOTDIR or ENOENT
    }
    let keys = nodes.keys.filter { $0 != key && folder(of: $0) == key }.sorted()
    // As in the system, the entries' paths begin with the requested one.
    let beginning = path.endsInSlash ? path : path + "/"
    return VirtualFolder(
      keys.map { FolderEntry(path: beginning + split($0).name, kind: nodes[$0]!.isFolder ? .folder : .file) })
  }

  /// Fails unless there is a folder at the path.
  func requireFolder(_ path: String, _ operation: String) throws(SystemError) {
    let key = try key(of: path, operation)
    guard let node = nodes[key] else { throw SystemError(operation, path, code: missing(key)) }
    guard node.isFolder else { throw SystemError(operation, path, code: 20) }  // ENOTDIR
  }

  func watch(_ path: String, _ announce: @escaping (FolderHint) -> Void) throws(SystemError) -> any Cancellable {
    let folder = try key(of: path, "watch")
    guard nodes[folder]?.isFolder == true else { throw SystemError("watch", path, code: missing(folder)) }
    let key = watches.add(announce)
    watched[key] = folder
    return AnyCancellable { [weak self] in
      self?.watches.remove(key)
      self?.watched[key] = nil
    }
  }
}
