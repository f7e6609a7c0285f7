import FeedStream
import Synchronization

/// The images that one poll after the other came by, so that a feed of 100,000 of them takes none of the loop's time.
///
/// Where a poll's images are made, on the thread pool, they are compared with those of the poll before; the same images
/// become the same array, which compares with itself at once. And when there are others, the old ones are let go of on the
/// pool: to free 100,000 images takes 10 ms.
final class LastImages: Sendable {
  private struct State {
    var last: [FeedImage] = []
    var old: [FeedImage] = []
  }

  /// From so many images on, letting go of them is work.
  private static let many = 1_000
  private let state = Mutex(State())

  /// The images to pass on for `images`: the last ones, if they are the same. On the thread pool.
  func settle(_ images: [FeedImage]) -> [FeedImage] {
    state.withLock { state in
      if state.last == images { return state.last }
      state.old = state.last.count < Self.many ? [] : state.last
      state.last = images
      return images
    }
  }

  /// Lets go of what was shown before, aside and once the loop's present turn is over: whoever is shown the new images has
  /// let go of the old ones by then.
  func letGo(on scheduler: any LoopScheduler) {
    guard state.withLock({ !$0.old.isEmpty }) else { return }
    scheduler.schedule {
      scheduler.offload {
        self.state.withLock { $0.old = [] }
      } completion: { _ in
      }
    }
  }

  private func forget() {
    // The lock is given back before the images go: the loop may want it.
    let old = state.withLock { state in
      defer { state.old = [] }
      return state.old
    }
    _ = consume old
  }
}
