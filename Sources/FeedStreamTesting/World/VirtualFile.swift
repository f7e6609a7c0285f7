import FeedStream

extension VirtualFiles {
  final class Node {
    var bytes: [UInt8] = []
    var modified: Int64 = 0
    var permissions: UInt16 = 0o644
    let number: UInt64
    let isFolder: Bool

    init(_ number: UInt64, isFolder: Bool) {
      self.number = number
      self.isFolder = isFolder
    }

    /// Two changes at the same instant have different modification times.
    func modify(at now: Int64) { modified = max(now, modified + 1) }

    /// Adds zeros at the end until the file has `count` bytes.
    func extend(to count: Int) { bytes += [UInt8](repeating: 0, count: max(count - bytes.count, 0)) }
  }
}

extension VirtualFiles.Node {
  var status: FileStatus {
    FileStatus(
      identity: FileIdentity(device: 1, number: number), size: Int64(bytes.count), modified: modified,
      permissions: permissions, isRegular: !isFolder)
  }
}

final class VirtualFile: OpenFile {
  private let node: VirtualFiles.Node
  private let path: String
  /// The file that this one will replace, if any.
  private let destination: String?
  /// True if every write is at the end of the file, wherever that is by then.
  private let appends: Bool
  private let files: VirtualFiles
  private var place = 0

  init(
    _ node: VirtualFiles.Node, _ path: String, replacing destination: String? = nil, appends: Bool = false,
    _ files: VirtualFiles
  ) {
    self.node = node
    self.path = path
    self.destination = destination
    self.appends = appends
    self.files = files
  }

  func read(into room: UnsafeMutableBufferPointer<UInt8>, at offset: Int64?) throws(SystemError) -> Int {
    if node.isFolder { throw SystemError("read", path, code: 21) }  // EISDIR
    let begin = offset.map { Int($0) } ?? place
    let bytes = node.bytes.dropFirst(begin).prefix(room.count)
    let (passes, code) = files.fault(.read, path, replacing: destination, bytes.count)
    if let code, passes == 0 { throw SystemError("read", path, code: code) }
    _ = room.update(fromContentsOf: bytes.prefix(passes))
    place = begin + passes
    return passes
  }

  func write(_ chunks: [Chunk]) -> (written: Int, error: SystemError?) {
    let bytes = Chunk(joining: chunks)
    var (passes, code) = files.fault(.write, path, replacing: destination, bytes.count)
    if appends { place = node.bytes.count }
    // Bytes that replace others need no room.
    let room = files.room
    let allowed = room == .max ? .max : max(room + node.bytes.count - place, 0)
    if allowed < passes { (passes, code) = (allowed, 28) }  // ENOSPC
    if passes > 0 {
      node.extend(to: place)
      let end = place + passes
      node.bytes.replaceSubrange(place..<min(end, node.bytes.count), with: bytes.prefix(passes))
      place = end
      files.touch(node, openedAt: path)
    }
    return (passes, code.map { SystemError("write to", path, code: $0) })
  }

  func sync() throws(SystemError) {
    if let code = files.fault(.sync, path, replacing: destination).code { throw SystemError("sync", path, code: code) }
  }

  func status() throws(SystemError) -> FileStatus { node.status }
}

final class VirtualFolder: OpenFolder {
  private var entries: ArraySlice<FolderEntry>

  init(_ entries: [FolderEntry]) { self.entries = entries[...] }

  func next(_ limit: Int) throws(SystemError) -> [FolderEntry] {
    defer { entries = entries.dropFirst(limit) }
    return Array(entries.prefix(limit))
  }
}
