import FeedStream
import Foundation
import ImageFeed
import TerminalImages

/// Runs `feed browse`: each event changes the state, which determines the screen and the images to load.
///
/// Use the browser only on its scheduler's thread.
final class Browser {
  private struct Step {
    var state: BrowseState
    var actions: [BrowseAction] = []
  }

  private let scheduler: any LoopScheduler
  private let terminal: Terminal
  private let world: World
  private let feeds: BrowsedFeeds
  private let queue: ThumbnailQueue
  private let thumbnails: Thumbnails
  private let history: BrowsedHistory?
  private let events = PassthroughSubject<BrowseEvent, Never>()
  private let isAwake = CurrentValueSubject<Bool, Never>(true)
  private var running: AnyCancellable?
  private var helpers: [String: AnyCancellable] = [:]
  /// The number of images that were saved and URLs that were opened: each has a helper, and none replaces another.
  private var helped = 0
  private let updates: AnyPublisher<FeedReport, Never>
  private(set) var state: BrowseState
  /// The terminal's abilities as it reported them, without the system's information.
  private var reported: TerminalAbilities?
  private var depth: ColorDepth
  private var writer: ScreenWriter
  private var outbox: [UInt8] = []
  private var isWriting = false
  /// True if the process is to be suspended when the terminal has taken the current write.
  private var isSuspending = false
  /// True while the process is suspended, or about to continue: the screen is the shell's.
  private var isSuspended = false
  /// The number of stops in a row after which the process continued at once.
  private var vainStops = 0
  private var isOver = false
  /// True if Ctrl-C ended the browser.
  private(set) var isInterrupted = false

  /// - Parameter updates: the new versions of feeds that are found while the user is browsing.
  init(
    _ loaders: [FeedLoader], names: [URL: String], folders: [URL: [String]] = [:], mode: ReadMode?,
    history: FeedHistory? = nil, updates: AnyPublisher<FeedReport, Never> = Empty().eraseToAnyPublisher(),
    _ thumbnails: Thumbnails, _ terminal: Terminal,
    size: TerminalSize, world: World, on scheduler: any LoopScheduler
  ) {
    self.scheduler = scheduler
    self.terminal = terminal
    self.world = world
    feeds = BrowsedFeeds(loaders, mode)
    queue = ThumbnailQueue(thumbnails)
    self.thumbnails = thumbnails
    self.updates = updates
    self.history = history.map(BrowsedHistory.init)
    state = BrowseState(
      loaders.map { ($0.url, names[$0.url] ?? "") }, in: folders, hasHistory: history != nil, size: size,
      now: world.now())
    depth = TerminalAbilities(environment: world.environment).depth
    writer = ScreenWriter(depth: depth)
  }

  /// Takes over the screen and starts.
  func start() {
    feeds.post = { [weak self] event in
      if case .page(let address, let feed) = event {
        self?.history?.visit(feed.images, of: address)
        self?.world.shown(feed.images, address)
      }
      self?.post(event)
    }
    queue.post = { [weak self] in self?.post($0) }
    history?.post = { [weak self] in self?.post($0) }
    terminal.farewell = Chunk(ScreenWriter.leaving(nil))
    outbox += ScreenWriter.entering.utf8
    let known = TerminalAbilities(environment: world.environment)
    let question = TerminalQuestion(environment: world.environment)
    let input =
      isAwake
      .map { [unowned self] isAwake -> AnyPublisher<BrowseEvent, SystemError> in
        guard isAwake else { return Empty(completeImmediately: false).eraseToAnyPublisher() }
        var isFirst = true
        return terminal.events(
          asking: state.abilities == nil ? question : nil, knowing: reported ?? known,
          deadline: StandardTerminal.deadline, on: scheduler
        ) { [unowned self] in
          outbox += $0
          flush()
        }
        .map { [unowned self] event -> BrowseEvent in
          switch event {
          case .key(.mouse(let mouse)): return .mouse(mouse, at: scheduler.now)
          case .key(let key): return .key(key)
          case .abilities(let abilities):
            reported = abilities
            return .abilities(world.sized(abilities))
          }
        }
        // A suspended process isn't told of a new size, so read it again afterward.
        .merge(
          with: terminal.sizes.map { [unowned self] size -> BrowseEvent in
            measureCharacter(canAsk: question != nil && (!isFirst || size != state.size))
            isFirst = false
            return .size(size)
          }
        )
        .eraseToAnyPublisher()
      }
      .setFailureType(to: SystemError.self)
      .switchToLatest()
    let clock = Interval(every: .seconds(10), scheduler: AnyLoopScheduler(scheduler))
      .map { [world] _ in BrowseEvent.clock(world.now()) }
      .setFailureType(to: SystemError.self)
    running = events.setFailureType(to: SystemError.self)
      .merge(with: input, clock)
      .scan(Step(state: state)) { step, event in
        var next = step.state
        let actions = next.take(event)
        return Step(state: next, actions: actions)
      }
      .sink { [weak self] _ in
        // The terminal was closed.
        self?.end()
      } receiveValue: { [weak self] step in
        self?.show(step)
      }
    helpers["updates"] = updates.sink { [weak self] in self?.take($0) }
    feeds.load()
    flush()
  }

  /// Shows a report. A failure is shown only if there is nothing else to show; the poller reports outdated feeds.
  private func take(_ report: FeedReport) {
    switch report.result {
    case .success(let feed):
      history?.visit(feed.images, of: report.address)
      world.shown(feed.images, report.address)
      post(.update(report.address, feed))
    case .failure(let error):
      if state.hasNothing { post(.failed(report.address, "\(error)")) }
    }
  }

  /// Restores the screen and releases everything. Idempotent.
  func end() {
    guard !isOver else { return }
    isOver = true
    running = nil
    helpers = [:]
    feeds.cancel()
    queue.cancel()
    history?.cancel()
    terminal.farewell = nil
    world.ended()
  }

  /// The bytes that restore the screen; none while it is the shell's.
  var leaving: [UInt8] { isSuspended ? [] : Array(ScreenWriter.leaving(state.abilities?.mode).utf8) }

  /// Handles the event after all earlier ones.
  func post(_ event: BrowseEvent) { scheduler.schedule { [weak self] in self?.events.send(event) } }

  // MARK: - Showing

  /// Determines the size of a character again, because a new size of the terminal may be that of its font. Asks only
  /// if images depend on it, because the shell reads a reply that arrives after the end.
  private func measureCharacter(canAsk: Bool) {
    guard let reported else { return }
    if canAsk, reported.mode.isGraphic { outbox += TerminalQuestion.ofCell }
    if reported.cell == nil { post(.abilities(world.sized(reported))) }
  }

  private func show(_ step: Step) {
    guard !isOver else { return }
    state = step.state
    if let abilities = state.abilities, abilities.depth != depth {
      depth = abilities.depth
      writer = ScreenWriter(depth: depth)
    }
    if !state.isShow {
      helpers["show"] = nil
    } else if helpers["show"] == nil {
      helpers["show"] = Interval(every: .seconds(10), scheduler: AnyLoopScheduler(scheduler))
        .sink { [weak self] _ in self?.post(.nextOfShow) }
    }
    if !isSuspended, state.abilities?.mode == .kitty { terminal.farewell = Chunk(leaving) }
    for action in step.actions { perform(action) }
    guard !isOver else { return }
    queue.want(state.wanted, state.drawings)
    flush()
  }

  /// Writes the differences, unless a write is in progress: a slow terminal skips intermediate states.
  private func flush() {
    guard !isWriting, !isOver, isAwake.value else { return }
    let bytes = outbox + writer.bytes(showing: BrowseScreen.grid(of: state))
    outbox = []
    guard !bytes.isEmpty else { return }
    isWriting = true
    world.write(bytes) { [weak self] in
      guard let self else { return }
      isWriting = false
      if isSuspending { suspend() } else { flush() }
    }
  }

  // MARK: - Doing

  private func perform(_ action: BrowseAction) {
    switch action {
    case .quit: end()
    case .interrupt:
      isInterrupted = true
      end()
    case .redraw: writer.reset()
    case .refresh:
      history?.cancelReads()
      feeds.load()
    case .more(let addresses): for address in addresses { feeds.more(of: address) }
    case .kept(let address, let place): history?.read(address, after: place)
    case .star(let isStarred, let id, let address): history?.star(isStarred, id, of: address)
    case .keep(let url, let feed, let isPrivate):
      history?.keep(url, thumbnails.keep(url, of: feed, isPrivate: isPrivate))
    case .save(let url, let feed, let isPrivate):
      let saving = thumbnails.original(url, of: feed, isPrivate: isPrivate)
        .flatMap(maxPublishers: .max(1)) { [scheduler, folder = world.folder] image in
          SerialWorker(on: scheduler).publisher { () throws(NoImage) in
            try SavedFile.write(image, named: url, in: folder)
          }
        }
      help(saving.map { "Saved as \($0)." }.catch { Just("The image couldn't be saved: \($0.details ?? $0.reason)") })
    case .find(let filter): history?.find(filter, in: state.sources.map(\.address))
    case .copy(let text):
      outbox += "\u{1B}]52;c;".utf8 + Base64.encode(Array(text.utf8)) + "\u{1B}\\".utf8
      post(.message("Copied the URL, if the terminal allows it."))
    case .open(let url): help(Self.opening(url, on: scheduler))
    case .suspend: scheduler.schedule { [weak self] in self?.suspend() }
    }
  }

  /// Suspends the process, as Ctrl-Z does in other programs.
  private func suspend() {
    guard !isOver, isAwake.value else { return }
    isSuspending = isWriting
    if isWriting { return }
    isAwake.value = false
    world.write(leaving) { [weak self] in self?.stop() }
  }

  /// Stops the process until it is continued.
  private func stop() {
    guard !isOver else { return }
    isSuspended = true
    terminal.farewell = nil
    let before = scheduler.now
    world.stop()
    vainStops = scheduler.now < before.advanced(by: .milliseconds(100)) ? vainStops + 1 : 0
    // After `kill %1`, the process runs in the background, where a change of the terminal's mode would stop it again.
    // So let the loop handle that signal first: it reads signals between two turns.
    scheduler.schedule { [weak self, scheduler] in scheduler.schedule { self?.wake() } }
  }

  /// Takes over the screen again, or stops again if the process was continued in the background.
  private func wake() {
    guard !isOver else { return }
    guard world.isForeground() else {
      // After its shell's end, a process can neither stop nor use the terminal.
      guard vainStops < 10 else { return end() }
      // The signal that ends this process may arrive later than the one that continues it.
      helpers["stop"] = Just(()).delay(for: .milliseconds(200), scheduler: AnyLoopScheduler(scheduler))
        .sink { [weak self] _ in self?.stopAgain() }
      return
    }
    vainStops = 0
    isSuspended = false
    world.woken()
    terminal.farewell = Chunk(leaving)
    outbox += ScreenWriter.entering.utf8
    writer = ScreenWriter(depth: depth)
    isAwake.value = true
    flush()
  }

  private func stopAgain() {
    if world.isForeground() { wake() } else { stop() }
  }

  /// Runs work until it completes, and shows its message.
  private func help(_ work: some Publisher<String, Never>) {
    helped += 1
    let name = "help \(helped)"
    // If the work completes while it is being subscribed to, it must not be kept.
    var isComplete = false
    let helper = work.sink { [weak self] _ in
      isComplete = true
      self?.helpers[name] = nil
    } receiveValue: { [weak self] in
      self?.post(.message($0))
    }
    if !isComplete { helpers[name] = helper }
  }
}
