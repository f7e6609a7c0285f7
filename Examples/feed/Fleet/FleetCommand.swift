import ArgumentParser
import FeedFleet
import FeedStream
import Foundation
import PlainText

/// `feed fleet`: looks at a fleet, and leaves hosts alone.
struct FleetCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "fleet",
    abstract: "See how a fleet is doing, and pause hosts for all of it.",
    subcommands: [FleetStatusCommand.self, FleetPause.self, FleetResume.self])
}

/// `feed fleet status`: what is due, late, taken and paused, and who works.
struct FleetStatusCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "status", abstract: "Say what is due, late, taken and paused, and who works.")

  @OptionGroup var fleet: FleetOptions

  @Flag(help: "Show it again every two seconds, until Ctrl-C.")
  var watch = false

  @Option(
    help: ArgumentHelp(
      "How it is written: for people, one line of JSON, or for Prometheus.", valueName: "text|json|metrics"))
  var format = StatusFormat.text

  enum StatusFormat: String, ExpressibleByArgument, CaseIterable { case text, json, metrics }

  func run() throws {
    let session = Session(verbose: fleet.verbose)
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
    session.run(states) { (result: Result<FleetStatus, FleetError>) -> String in
      let body =
        switch result {
        case .success(let status): text(status)
        case .failure(let error): "\(error)\n"
        }
      // From the top, over what was there.
      return clears ? "\u{1B}[H\u{1B}[J\(body)" : body
    }
    try session.finish {}
  }
}

/// `feed fleet pause`: leaves a host alone.
struct FleetPause: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "pause", abstract: "Leave a host alone, in the whole fleet, until resume.",
    discussion: "A request that runs is not ended.")

  @Argument(
    help: ArgumentHelp("The host, with its port where that is not the usual one.", valueName: "host"),
    transform: HostArgument.init(parsing:))
  var host: HostArgument

  @Option(
    name: .customLong("for"),
    help: ArgumentHelp("How long to pause, such as 2h. (default: until resumed)", valueName: "duration"),
    transform: DurationArgument.init(positive:))
  var duration: DurationArgument?

  @Option(help: ArgumentHelp("What explain and status say.", valueName: "text"))
  var reason = "somebody wants it so (feed fleet pause)"

  @OptionGroup var fleet: FleetOptions

  func run() throws {
    let session = Session(verbose: fleet.verbose)
    let store = session.fleet(at: fleet.store)
    let host = host.name
    let until = duration.map { "for \($0.duration.text)" } ?? "until feed fleet resume \(host.printable)"
    let paused = store.pause(host, for: duration?.duration, because: reason).flatMap { store.hasFeeds(on: host) }
    try session.answer(paused.eraseToAnyPublisher()) { hasFeeds in
      // A name that is mistyped would be left alone for ever.
      if !hasFeeds { StandardError.shared.write("No feed of this fleet is on \(host.printable) now\n") }
      return "\(host.printable) is left alone \(until)\n"
    }
  }
}

/// `feed fleet resume`: asks a host again.
struct FleetResume: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "resume", abstract: "End the pause of a host, even one that it asked for.")

  @Argument(help: ArgumentHelp("The host.", valueName: "host"), transform: HostArgument.init(parsing:))
  var host: HostArgument

  @OptionGroup var fleet: FleetOptions

  func run() throws {
    let session = Session(verbose: fleet.verbose)
    let store = session.fleet(at: fleet.store)
    let host = host.name
    try session.answer(store.resume(host)) {
      $0 ? "\(host.printable) is asked again\n" : "\(host.printable) had no pause\n"
    }
  }
}
