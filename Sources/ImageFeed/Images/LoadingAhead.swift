package import FeedStream

extension Sequence {
  /// The values that `load` delivers for the elements, in the elements' order, loaded before they are requested.
  ///
  /// **Demand:** begins with the first request; from then on, `width` loads are running or waiting to be requested.
  /// **Failure:** none.
  /// **Cancellation:** cancels the running loads. **Policy:** holds up to `width` values.
  ///
  /// - Parameters:
  ///   - width: the number of loads to begin in advance.
  ///   - load: delivers one value.
  /// - Precondition: `width` is more than zero.
  package func ahead<P: Publisher>(
    width: Int, _ load: @escaping (Element) -> P
  ) -> some Publisher<P.Output, Never> where P.Failure == Never {
    precondition(width > 0, "ahead(width: \(width)): nothing could be loaded ahead; use 1 or more")
    let elements = Array(self)
    return Create<P.Output, Never> { emitter in
      let loading = LoadingAhead(elements, width: width, load, emitter)
      emitter.onRequest { _ in loading.move() }
      emitter.onCancel { loading.cancel() }
    }
  }
}

/// Loads ahead for one subscriber.
private final class LoadingAhead<Element, P: Publisher> where P.Failure == Never {
  typealias Emitter = Create<P.Output, Never>.Emitter

  /// A load that has begun but hasn't been delivered.
  private final class Load {
    var result: P.Output?
    var subscription: AnyCancellable?
  }

  private let elements: [Element]
  private let width: Int
  private let load: (Element) -> P
  private let emitter: Emitter
  private var loads: [Load] = []
  private var delivered = 0
  private var isMoving = false

  init(_ elements: [Element], width: Int, _ load: @escaping (Element) -> P, _ emitter: Emitter) {
    self.elements = elements
    self.width = width
    self.load = load
    self.emitter = emitter
  }

  /// Delivers available values on demand, and begins as many loads as allowed.
  func move() {
    // A load may complete while it begins, and a subscriber may request more while it receives a value.
    guard !isMoving else { return }
    isMoving = true
    defer { isMoving = false }
    repeat {
      while emitter.demand > .none, let result = loads.first?.result {
        loads.removeFirst()
        delivered += 1
        emitter.send(result)
      }
      if delivered == elements.count { emitter.send(completion: .finished) }
    } while emitter.isActive && beginLoads()
  }

  /// - Returns: true if the next value to deliver is available.
  private func beginLoads() -> Bool {
    while loads.count < width, delivered + loads.count < elements.count {
      let load = Load()
      loads.append(load)
      load.subscription = self.load(elements[delivered + loads.count - 1]).sink { [weak self, weak load] in
        load?.result = $0
        self?.move()
      }
    }
    return emitter.demand > .none && loads.first?.result != nil
  }

  func cancel() { loads = [] }
}
