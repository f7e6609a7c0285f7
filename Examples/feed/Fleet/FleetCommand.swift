import ArgumentParser
import FeedFleet
import FeedStream
import Foundation
import PlainText

/// `feed fleet`: shows a fleet's status, and pauses hosts.
struct FleetCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "fleet",
    abstract: "Show a fleet's status, and pause or resume hosts.",
    subcommands: [FleetStatusCommand.self, FleetPause.self, FleetResume.self])
}

/// `feed fleet status`: shows due, late, leased and paused feeds and hosts, and the workers.
struct FleetStatusCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "status", abstract: "Show due and late feeds, leased and paused hosts, and the workers.")

  @OptionGroup var fleet: FleetOptions

  @Flag(help: "Refresh every two seconds, until Ctrl-C.")
  var watch = false

  @Option(
    help: ArgumentHelp(
      "Output format: text, one line of JSON, or Prometheus metrics.", valueName: "text|json|metrics"))
  var format = StatusFormat.text

  enum StatusFormat: String, ExpressibleByArgument, CaseIterable { case text, json, metrics }

  func run() throws {
    let session = Session(fleet.log)
    let store = session.fleet(at: fleet.store)
    let (format, style) = (format, session.outputStyle)
    let text: @Sendable (FleetStatus) -> String = { status in
      switch format {
      case .text: FleetStatusText(style: style).text(of: status)
      case .json: FleetStatusText.json(status)
      case .metrics: FleetMetrics(status).text
      }
    }
    guard watch else { return try session.answer(store.status(), text: text) }
    let clears = format == .text && isatty(STDOUT_FILENO) == 1
    let ticks = Interval(every: .seconds(2), scheduler: session.loop).map { _ in }.prepend(())
    let states = ticks.flatMap(maxPublishers: .max(1)) { _ in
      store.status().map { Result<FleetStatus, FleetError>.success($0) }.catch { Just(.failure($0)) }
    }
    let trouble = session.storeReporter()
    let reported = states.handleEvents(receiveOutput: { result in
      // A program may read the output, so errors aren't part of it; on a screen, they replace the status.
      guard !clears else { return }
      if case .failure(let error) = result { trouble(error) } else { trouble(nil) }
    })
    session.run(reported) { (result: Result<FleetStatus, FleetError>) -> String in
      let body =
        switch result {
        case .success(let status): text(status)
        case .failure(let error): clears ? "\(error)\n" : ""
        }
      // Move to the top and overwrite the previous status.
      return clears ? "\u{1B}[H\u{1B}[J\(body)" : body
    }
    try session.finish {}
  }
}

/// `feed fleet pause`: pauses a host.
struct FleetPause: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "pause", abstract: "Pause a host for the whole fleet, until you resume it or for a given time.",
    discussion: """
      Running requests are not interrupted. A longer pause, such as one that the host's server requested, isn't \
      shortened; to end it, use "feed fleet resume".
      """)

  @Argument(
    help: ArgumentHelp("The host, with its port unless it is the default port.", valueName: "host"),
    transform: HostArgument.init(parsing:))
  var host: HostArgument

  @Option(
    name: .customLong("for"),
    help: ArgumentHelp("How long to pause, such as 2h. (default: until you resume it)", valueName: "duration"),
    transform: DurationArgument.init(positive:))
  var duration: DurationArgument?

  @Option(
    help: ArgumentHelp(
      "The reason, as shown by \"feed explain\" and \"feed fleet status\".", valueName: "text"))
  var reason = "an operator paused it"

  @OptionGroup var fleet: FleetOptions

  func run() throws {
    let session = Session(fleet.log)
    let store = session.fleet(at: fleet.store)
    let host = host.name
    let until =
      duration.map { "for at least \($0.duration.text)" } ?? "until you run \"feed fleet resume \(host.printable)\""
    let paused = store.pause(host, for: duration?.duration, because: reason).flatMap { store.hasFeeds(on: host) }
    try session.answer(paused.eraseToAnyPublisher()) { hasFeeds in
      // Warn about a name that may be mistyped: it would be paused forever.
      if !hasFeeds { StandardError.shared.write("No feed in this fleet is on \(host.printable); check the name\n") }
      return "\(host.printable) is paused \(until)\n"
    }
  }
}

/// `feed fleet resume`: allows requests to a host again.
struct FleetResume: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "resume", abstract: "Resume a paused host, even if its server requested the pause.")

  @Argument(
    help: ArgumentHelp("The host, with its port unless it is the default port.", valueName: "host"),
    transform: HostArgument.init(parsing:))
  var host: HostArgument

  @OptionGroup var fleet: FleetOptions

  func run() throws {
    let session = Session(fleet.log)
    let store = session.fleet(at: fleet.store)
    let host = host.name
    try session.answer(store.resume(host)) {
      $0 ? "Resumed \(host.printable)\n" : "\(host.printable) was not paused\n"
    }
  }
}
