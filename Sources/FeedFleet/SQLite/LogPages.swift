import FeedStream

/// The updates of a log that cannot announce them: pages of it, one after another, and a pause after each that is empty.
///
/// **Demand:** a page is read when an update is wanted and none is held. **Failure:** that of a page. **Cancellation:** ends
/// reading. **Policy:** holds a page.
struct LogPages: Publisher {
  typealias Output = LoggedUpdate
  typealias Failure = FleetError
  typealias Page = (UpdateCursor) -> AnyPublisher<[LoggedUpdate], FleetError>

  let start: UpdateCursor
  let pause: Duration
  let scheduler: any LoopScheduler
  let page: Page

  /// - Parameter page: what comes after a cursor, the oldest first.
  init(after start: UpdateCursor, every pause: Duration, on scheduler: any LoopScheduler, page: @escaping Page) {
    self.start = start
    self.pause = pause
    self.scheduler = scheduler
    self.page = page
  }

  func receive<S: Subscriber>(subscriber: S) where S.Input == LoggedUpdate, S.Failure == FleetError {
    let reader = PageReader(self) {
      subscriber.receive($0)
    } fail: {
      subscriber.receive(completion: .failure($0))
    }
    subscriber.receive(subscription: reader)
  }
}

private final class PageReader: Subscription {
  private let pages: LogPages
  private var last: UpdateCursor
  private var held: ArraySlice<LoggedUpdate> = []
  private var demand = Subscribers.Demand.none
  private var reading: AnyCancellable?
  private var timer: (any Cancellable)?
  private var isDelivering = false
  private var deliver: ((LoggedUpdate) -> Subscribers.Demand)?
  private var fail: ((FleetError) -> Void)?

  init(
    _ pages: LogPages, _ deliver: @escaping (LoggedUpdate) -> Subscribers.Demand, fail: @escaping (FleetError) -> Void
  ) {
    self.pages = pages
    last = pages.start
    self.deliver = deliver
    self.fail = fail
  }

  func request(_ demand: Subscribers.Demand) {
    precondition(demand > .none, "updates(after:): request(.none) asks for nothing; request one or more")
    self.demand += demand
    goOn()
  }

  func cancel() {
    (deliver, fail, held) = (nil, nil, [])
    reading = nil
    timer.take()?.cancel()
  }

  private func goOn() {
    guard !isDelivering else { return }
    isDelivering = true
    while demand > .none, let deliver, let update = held.popFirst() {
      demand -= 1
      demand += deliver(update)
    }
    isDelivering = false
    if demand > .none, deliver != nil, held.isEmpty { read() }
  }

  private func read() {
    guard reading == nil, timer == nil else { return }
    reading = pages.page(last).sink { [weak self] completion in
      guard let self else { return }
      reading = nil
      switch completion {
      case .finished where held.isEmpty: wait()
      case .finished: goOn()
      case .failure(let error):
        let fail = self.fail
        cancel()
        fail?(error)
      }
    } receiveValue: { [weak self] page in
      guard let self else { return }
      held = page[...]
      if let update = page.last { last = update.cursor }
    }
  }

  private func wait() {
    timer = pages.scheduler.later(pages.pause) { [weak self] in
      self?.timer = nil
      self?.goOn()
    }
  }
}
