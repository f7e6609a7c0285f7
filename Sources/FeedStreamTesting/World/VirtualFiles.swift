public import FeedStream

/// The file system in virtual time, with faults that a test sets.
///
///     time.files["feed.json"] = "[]"
///     time.files.capacity = 100                                  // a disk that can fill up
///     time.files.fail(.sync, of: "feed.json", code: EIO)         // once
///
/// `./` at the beginning of a path has no effect, and neither do slashes at the end of a path that a test passes.
/// Otherwise, paths are used as given, without resolving `.`, `..` or links. The parents of a file or a folder always
/// exist, and so do the folders `.` and `/`.
// @unchecked: everything in virtual time runs on one thread, even work that an event loop would pass to its thread
// pool.
public final class VirtualFiles: @unchecked Sendable {
  /// A file system call that can fail.
  public enum Operation: Hashable, Sendable {
    case open, read, write, sync, rename
  }

  /// The maximum number of bytes in all files together; `nil` means no limit.
  public var capacity: Int?

  /// True to report no changes to watches, as a system with too many watches does.
  public var isMute = false

  // Weak, because a file that is being written may be released after the scheduler.
  private weak var time: VirtualTimeScheduler?
  private(set) var nodes: [String: Node] = [:]
  private var faults = VirtualFileFaults()
  let watches = FolderWatches()
  /// The watched folders, by the keys of their watches.
  var watched: [Int: String] = [:]
  private var count: UInt64 = 0

  init(_ time: VirtualTimeScheduler) {
    self.time = time
    for path in [".", "/"] { nodes[path] = node(isFolder: true) }
  }

  private var now: Int64 { time?.now.nanoseconds ?? 0 }

  // MARK: For tests

  /// The content of a file; `nil` if there is no file. Setting it replaces the file with a new one, as a rename does;
  /// setting it to `nil` removes the file.
  ///
  /// - Precondition: there is no folder at the path, unless it is removed, and no file above it.
  public subscript(path: String) -> Chunk? {
    get { nodes[path.pathKey].flatMap { $0.isFolder ? nil : Chunk($0.bytes) } }
    set {
      let path = path.pathKey
      guard let newValue else { return remove(path) }
      requireFile(path)
      let node = make(path)
      node.bytes = Array(newValue)
      touch(path, .content)
    }
  }

  /// Appends to a file, which is created if missing.
  ///
  /// - Precondition: there is no folder at the path, and no file above it.
  public func append(_ bytes: Chunk, to path: String) {
    let path = path.pathKey
    requireFile(path)
    (nodes[path] ?? make(path)).bytes += bytes
    touch(path, .content)
  }

  /// Truncates a file to the given length, or extends it with zeros.
  ///
  /// - Precondition: there is a file at the path.
  public func truncate(_ path: String, to count: Int = 0) {
    let path = path.pathKey
    requireFile(path)
    let node = requireNode(path)
    node.bytes = Array(node.bytes.prefix(count))
    node.extend(to: count)
    touch(path, .content)
  }

  /// Creates a folder.
  ///
  /// - Precondition: there is no file above it.
  public func makeFolder(_ path: String) {
    let path = path.pathKey
    guard nodes[path] == nil else { return }
    requireFolder(above: path)
    makeParents(of: path)
    nodes[path] = node(isFolder: true)
    touch(path, .entry)
  }

  /// Renames a file or a folder, replacing an existing file. Has no effect if the system would refuse that, as it does
  /// if a file would replace a folder. Faults don't affect it.
  ///
  /// - Precondition: there is a file or a folder at the path.
  public func move(_ path: String, to other: String) {
    _ = requireNode(path.pathKey)
    try? replace(other.pathKey, by: path.pathKey)
  }

  /// The paths of all files, sorted.
  public var paths: [String] { nodes.filter { !$0.value.isFolder }.keys.sorted() }

  /// Makes the next `operation` on a path fail, or on the temporary file that will replace the file at that path (see
  /// `FileWriting.atomically`). At the end, `withVirtualTime` fails the test if the failure hasn't occurred.
  ///
  /// - Parameters:
  ///   - code: the system's error number.
  ///   - count: the number of bytes to read or write before the failure, possibly in several calls.
  public func fail(
    _ operation: Operation, of path: String, code: Int32, after count: Int = 0, fileID: StaticString = #fileID,
    filePath: StaticString = #filePath, line: UInt = #line, column: UInt = #column
  ) {
    faults.add(
      operation, of: path.pathKey, code: code, after: count, time?.audit,
      CallSite(fileID: fileID, filePath: filePath, line: line, column: column))
  }

  /// Makes the next `operation` on any path fail. At the end, `withVirtualTime` fails the test if the failure hasn't
  /// occurred.
  public func failNext(
    _ operation: Operation, code: Int32, fileID: StaticString = #fileID, filePath: StaticString = #filePath,
    line: UInt = #line, column: UInt = #column
  ) {
    faults.add(
      operation, of: nil, code: code, after: 0, time?.audit,
      CallSite(fileID: fileID, filePath: filePath, line: line, column: column))
  }

  // MARK: Changes and faults

  private func requireFile(_ path: String) {
    precondition(
      nodes[path]?.isFolder != true, "VirtualFiles: \(path) is a folder; use another path, or remove it first")
    requireFolder(above: path)
  }

  private func requireFolder(above path: String) {
    let file = fileAbove(path)
    precondition(
      file == nil, "VirtualFiles: \(path) can't be below the file \(file ?? ""); use another path, or remove it first")
  }

  /// The path of a file in the place of a folder above `path`, if any.
  func fileAbove(_ path: String) -> String? {
    var (path, above) = (path, folder(of: path))
    while nodes[above] == nil, path != above { (path, above) = (above, folder(of: above)) }
    return nodes[above]?.isFolder == false ? above : nil
  }

  /// The system's error number for a path at which there is nothing.
  func missing(_ path: String) -> Int32 { fileAbove(path) == nil ? 2 : 20 }  // ENOENT, ENOTDIR

  private func requireNode(_ path: String) -> Node {
    guard let node = nodes[path] else {
      preconditionFailure("VirtualFiles: there is nothing at \(path); use the path of a file that exists")
    }
    return node
  }

  private func node(isFolder: Bool) -> Node {
    count += 1
    let node = Node(count, isFolder: isFolder)
    node.modified = now
    return node
  }

  func folder(of path: String) -> String { split(path).folder }

  private func makeParents(of path: String) {
    let above = folder(of: path)
    guard nodes[above] == nil else { return }
    makeParents(of: above)
    nodes[above] = node(isFolder: true)
    touch(above, .entry)
  }

  /// The paths of everything in the folder at `path`, at any depth; empty for a file.
  private func content(of path: String) -> [String] {
    guard nodes[path]?.isFolder == true else { return [] }
    let below = path + "/"
    return nodes.keys.filter { $0.hasPrefix(below) }
  }

  func make(_ path: String) -> Node {
    makeParents(of: path)
    let node = node(isFolder: false)
    nodes[path] = node
    touch(path, .entry)
    return node
  }

  /// Notes that an open file's content has changed: under its present name, if it has one.
  ///
  /// - Parameter path: the name under which the file was opened.
  func touch(_ node: Node, openedAt path: String) {
    let path = nodes[path.pathKey] === node ? path.pathKey : nodes.first { $0.value === node }?.key
    if let path { touch(path, .content) } else { node.modify(at: now) }
  }

  func touch(_ path: String, _ kind: FolderHint.Kind) {
    let folder = folder(of: path)
    nodes[kind == .content ? path : folder]?.modify(at: now)
    let name = split(path).name
    for (key, other) in watched.sorted(by: { $0.key < $1.key }) where other == folder && !isMute {
      time?.schedule { [weak self] in
        guard let self, let time else { return }
        watches.announce(FolderHint(name: name, kind: kind), to: key, on: time)
      }
    }
  }

  func replace(_ other: String, by path: String) throws(SystemError) {
    if [path, other].contains(where: { folder(of: $0) == $0 }) {
      throw SystemError("replace", other, code: 16)  // EBUSY
    }
    guard let node = nodes[path] else { throw SystemError("replace", other, code: missing(path)) }
    guard path != other else { return }
    if let replaced = nodes[other] {
      if replaced.isFolder != node.isFolder {
        throw SystemError("replace", other, code: replaced.isFolder ? 21 : 20)  // EISDIR, ENOTDIR
      }
      guard content(of: other).isEmpty else { throw SystemError("replace", other, code: 39) }  // ENOTEMPTY
    }
    if fileAbove(other) != nil { throw SystemError("replace", other, code: 20) }  // ENOTDIR
    // A folder can't move into itself.
    guard !other.hasPrefix(path + "/") else { throw SystemError("replace", other, code: 22) }  // EINVAL
    makeParents(of: other)
    for old in [path] + content(of: path) {
      nodes[other + old.dropFirst(path.count)] = nodes.removeValue(forKey: old)
    }
    for path in [path, other] { touch(path, .entry) }
  }

  package func remove(_ path: String) {
    let path = path.pathKey
    guard nodes[path] != nil, folder(of: path) != path else { return }
    for path in [path] + content(of: path) { nodes[path] = nil }
    touch(path, .entry)
  }

  /// Returns how many of `count` bytes pass before a fault, and the fault's error number, if any.
  ///
  /// - Parameter destination: the file that the file at `path` will replace, if any.
  func fault(
    _ operation: Operation, _ path: String, replacing destination: String? = nil, _ count: Int = 0
  ) -> (passes: Int, code: Int32?) {
    faults.take(operation, path.pathKey, replacing: destination?.pathKey, count)
  }

  var room: Int {
    capacity.map { max($0 - nodes.values.reduce(0) { $0 + $1.bytes.count }, 0) } ?? .max
  }
}
