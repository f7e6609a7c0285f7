internal import CLibUV

/// Announces changes to a folder's entries: libuv's `uv_fs_event_t`.
final class FolderWatch: LoopHandle {
  private let key: Int

  init(_ folder: String, on loop: EventLoop, _ announce: @escaping (FolderHint) -> Void) throws(SystemError) {
    let key = loop.folderWatches.add(announce)
    self.key = key
    do {
      try super.init(on: loop, as: .openHandle, uv_fs_event_t.self, uv_fs_event_init)
    } catch {
      loop.folderWatches.remove(key)
      throw SystemError("watch", folder, code: error.errno)
    }
    // The system would end the path at a null byte, and watch another folder.
    guard !folder.utf8.contains(0) else { throw SystemError("watch", folder, code: Errno.invalid) }
    let code = uv_fs_event_start(
      raw(),
      { raw, name, events, status in
        let watch = FolderWatch.of(raw)
        let isEntry = UInt32(bitPattern: events) & UV_RENAME.rawValue != 0 || status < 0
        let hint = FolderHint(name: name.map { String(cString: $0) }, kind: isEntry ? .entry : .content)
        watch.loop.folderWatches.announce(hint, to: watch.key, on: watch.loop)
      }, folder, 0)
    guard code == 0 else { throw Self.failure(of: folder, code: code) }
    // Users of the watch also check periodically, and their timers keep the loop running.
    keepsLoopAlive = false
  }

  /// - Parameter code: libuv's error number.
  static func failure(of folder: String, code: Int32) -> SystemError {
    // The system's text is about a full disk.
    let reason = ", because the limit fs.inotify.max_user_watches is reached"
    return SystemError("watch", folder + (code == UV_ENOSPC.rawValue ? reason : ""), code: code)
  }

  override func releaseHandler() { loop.folderWatches.remove(key) }
}
