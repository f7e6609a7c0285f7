import CLibrary

/// An object of each thread, which the thread retains until it ends.
struct ThreadSlot<Object: AnyObject> {
  private let key = CurrentDomain.newSlot(releaseObject)

  /// The calling thread's object; `nil` if it has none.
  var existing: Object? {
    CurrentDomain.value(in: key).map { Unmanaged<Object>.fromOpaque($0).takeUnretainedValue() }
  }

  /// Gives the calling thread its object.
  func set(_ object: Object) { CurrentDomain.set(Unmanaged.passRetained(object).toOpaque(), in: key) }

  /// The calling thread's object, which `make` makes if there is none.
  func object(_ make: () -> Object) -> Object {
    if let existing { return existing }
    let new = make()
    set(new)
    return new
  }
}

private func releaseObject(_ object: UnsafeMutableRawPointer) { Unmanaged<AnyObject>.fromOpaque(object).release() }

extension CurrentDomain {
  /// - Parameter ended: called with the content of the slot when a thread ends.
  static func newSlot(_ ended: (@convention(c) (UnsafeMutableRawPointer) -> Void)? = nil) -> pthread_key_t {
    var key = pthread_key_t()
    #if canImport(Darwin)
      let code = pthread_key_create(&key, ended)
    #else
      let code = pthread_key_create(
        &key, unsafeBitCast(ended, to: (@convention(c) (UnsafeMutableRawPointer?) -> Void)?.self))
    #endif
    precondition(
      code == 0, "FeedStream: the process has no thread-local keys left; delete unused keys (pthread_key_delete)")
    return key
  }

  // Opaque to the optimizer, as the slot of the current domain is.
  @inline(never) static func value(in slot: pthread_key_t) -> UnsafeMutableRawPointer? { pthread_getspecific(slot) }
  @inline(never) static func set(_ value: UnsafeMutableRawPointer?, in slot: pthread_key_t) {
    pthread_setspecific(slot, value)
  }
}
