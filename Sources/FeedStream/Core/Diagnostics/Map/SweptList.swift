import Synchronization

/// A list of weak references to which any thread can add. From time to time, adding an element removes the elements
/// whose objects have been released.
final class SweptList<Element: Sendable>: Sendable {
  private struct Contents {
    var list: [Element] = []
    var limit = 64
  }

  private let contents = Mutex(Contents())

  var elements: [Element] { contents.withLock { $0.list } }

  func add(_ element: Element, isOver: (Element) -> Bool) {
    let full: [Element] = contents.withLock { contents in
      let full = contents.list.count >= contents.limit ? contents.list : []
      // Until this call sets the next limit, no other call removes elements, so they keep their positions.
      if !full.isEmpty { contents.limit = .max }
      contents.list.append(element)
      return full
    }
    guard !full.isEmpty else { return }
    // Outside of the lock: this check may release an object, and the object's `deinit` may run any code. It runs on
    // this thread if the object's own thread releases the object during the check.
    let rest = full.filter { !isOver($0) }
    contents.withLock { contents in
      contents.list.replaceSubrange(..<full.count, with: rest)
      contents.limit = max(64, contents.list.count * 2)
    }
    // Elements that were removed are released here, outside of the lock, too.
    discard(full)
  }
}
