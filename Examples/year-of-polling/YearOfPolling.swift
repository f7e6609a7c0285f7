import ArgumentParser
import PollingWorld

/// Simulates a year of polling a feed every minute, once for each seed, and reports the speed.
@main
struct YearOfPolling: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "year-of-polling",
    abstract: "A year of polling every minute, with outages, errors, clock jumps and crashes, in virtual time.")

  @Option(help: "The number of seeds.") var seeds: UInt64 = 1
  @Option(help: "The first seed.") var firstSeed: UInt64 = 1
  @Option(help: "The days to simulate for each seed.") var days = 365
  @Option(help: "The hours to simulate for each seed, instead of days.") var hours: Int?
  @Option(help: "The age at which saved feeds expire, in seconds.") var maxAge = 604_800
  @Option(help: "The factor by which faults are more frequent than usual.") var haste = 1

  @Flag(help: "Instead, poll feeds on servers of every profile, and judge each request.") var polite = false
  @Flag(help: "With --polite, poll without validators, for comparison.") var unconditional = false
  @Flag(help: "With --polite, print a table of each server's requests and bytes, next to those of a naive client.")
  var table = false
  @Flag(
    help: "Instead, poll sixty feeds on a host that allows a request every 61 seconds, with and without a learned pace."
  )
  var paced = false
  @Option(help: "With --paced, the minutes between two polls of a feed.") var every = 60

  func validate() throws {
    // The bounds, about a hundred years, keep times in nanoseconds from overflowing.
    guard (1...3_000_000_000).contains(maxAge), (1...1000).contains(haste) else {
      throw ValidationError("--max-age must be from 1 to 3000000000, and --haste from 1 to 1000")
    }
    guard (1...36_500).contains(days), (1...876_000).contains(hours ?? 1), (1...1_000_000).contains(every) else {
      throw ValidationError("--days must be from 1 to 36500, --hours from 1 to 876000, and --every from 1 to 1000000")
    }
    guard seeds <= UInt64.max - firstSeed else {
      throw ValidationError("--first-seed and --seeds together must be at most \(UInt64.max)")
    }
  }

  func run() throws {
    if polite { return try runPolitely() }
    if paced { return try runPaced() }
    var failures = 0
    for seed in firstSeed..<(firstSeed + seeds) {
      let start = ContinuousClock.now
      let report = PollingSimulation(seed: seed, hours: hours ?? days * 24, maxAge: maxAge, haste: haste).run()
      print(report.summary(spent: .now - start))
      if let failure = report.failure {
        failures += 1
        print("FAILED: \(failure)")
      }
    }
    if failures > 0 { throw ExitCode.failure }
  }
}

extension YearOfPolling {
  private func runPolitely() throws {
    if table {
      let table = PolitenessTable(seed: firstSeed, days: days)
      print(table.text)
      guard let failure = table.failure else { return }
      print("FAILED: \(failure)")
      throw ExitCode.failure
    }
    var failures = 0
    for seed in firstSeed..<(firstSeed + seeds) {
      let start = ContinuousClock.now
      let report = PoliteSimulation(
        seed: seed, days: hours.map { $0 / 24 } ?? days, client: unconditional ? .unconditional : .poller
      ).run()
      print(
        "seed \(seed): \(report.requests) requests, \(report.conditional) of them conditional, \(report.bytes) bytes; "
          + "\(report.restarts) restarts, \(report.changes) changes, \(report.deliveries) deliveries, "
          + "in \(ContinuousClock.now - start)")
      if seeds == 1 {
        for (name, numbers) in report.servers.sorted(by: { $0.key < $1.key }) {
          print("  \(name): \(numbers[0]) requests, \(numbers[1]) bytes")
        }
      }
      if let failure = report.failure {
        failures += 1
        print("FAILED: \(failure)")
      }
    }
    if failures > 0 { throw ExitCode.failure }
  }
}

extension YearOfPolling {
  private func runPaced() throws {
    print("| A host that | Learned pace | Requests | Refusals | Bytes | First round | Longest round |")
    print("| --- | --- | ---: | ---: | ---: | ---: | ---: |")
    var isMissed = false
    for manner in PacedSimulation.Manner.allCases {
      for learns in [true, false] {
        let report = PacedSimulation(manner, learns: learns, seed: firstSeed).run(
          hours: hours ?? days * 24, every: .seconds(60 * every))
        let first = report.firstRound.map { "\(Int(($0 / 60).rounded(.up))) min" } ?? "never"
        print(
          "| \(manner.rawValue) | \(learns ? "yes" : "no") | \(report.requests) | \(report.refusals) | \(report.bytes) "
            + "| \(first) | \(Int((report.longestRound / 60).rounded(.up))) min |")
        if learns, report.refusals > 5 { isMissed = true }
      }
    }
    guard isMissed else { return }
    print("FAILED: more than five refusals with a learned pace")
    throw ExitCode.failure
  }
}

extension PollingReport {
  fileprivate func summary(spent: Duration) -> String {
    let seconds = Double(spent.components.seconds) + Double(spent.components.attoseconds) / 1e18
    let days = Double(hours) / 24
    let rate = Int(days / seconds)
    return """
      seed \(seed): \(days) days in \((seconds * 100).rounded() / 100) s, \(rate) simulated days per second
        \(polls) polls, \(feeds) feeds from the server, \(saves) saved, \(superseded) superseded, \(changes) changes
        \(deliveries) deliveries: \(savedFeeds) saved feeds, \(errors) errors; \(deletions) deletions
        \(crashes) crashes, \(outages) outages, \(clockJumps) clock jumps, \(diskFailures) disk failures
        \(checks) checks, fingerprint \(String(fingerprint, radix: 16))
      """
  }
}
