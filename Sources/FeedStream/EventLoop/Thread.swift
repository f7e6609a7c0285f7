internal import CLibUV

/// A system thread that runs one closure and is joined or detached once.
final class Thread: Sendable {
  private struct Body {
    let name: String
    let run: @Sendable () -> Void
  }

  // The thread to join; `nil` after the first join. Because of the lock, other callers wait for that join too.
  private let handle: Locked<UInt?>

  /// - Throws: when the system has no threads left.
  init(name: String, _ run: @escaping @Sendable () -> Void) throws(EventLoopError) {
    // Linux refuses longer names, and a cut within a character would lengthen the name.
    var short = name
    while short.utf8.count > 15 { short.unicodeScalars.removeLast() }
    let body = UnsafeMutablePointer<Body>.allocate(capacity: 1)
    // The new thread moves the body out and frees the memory.
    body.initialize(to: Body(name: short, run: run))
    var thread = uv_thread_t()
    let code = uv_thread_create(
      &thread,
      { pointer in
        let pointer = pointer!.assumingMemoryBound(to: Body.self)
        let body = pointer.move()
        pointer.deallocate()
        clibuv_thread_set_name(body.name)
        body.run()
      }, body)
    guard code == 0 else {
      body.deinitialize(count: 1)
      body.deallocate()
      throw EventLoopError(.startThread, code: code)
    }
    handle = Locked(clibuv_thread_to_int(thread))
  }

  /// Waits until the thread ends. Safe to call again, and from several threads.
  func join() {
    handle.withLock { handle in
      guard let number = handle else { return }
      var thread = clibuv_thread_from_int(number)
      uv_thread_join(&thread)
      handle = nil
    }
  }

  /// Detaches the thread.
  func detach() {
    handle.withLock { handle in
      guard let number = handle else { return }
      clibuv_thread_detach(clibuv_thread_from_int(number))
      handle = nil
    }
  }
}
