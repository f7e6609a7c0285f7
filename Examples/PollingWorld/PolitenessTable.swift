/// The requests and bytes for each server in a year, both for the poller and for a client that requests everything
/// every hour.
public struct PolitenessTable {
  private let polite: PoliteReport
  private let unconditional: PoliteReport

  /// Runs both clients.
  public init(seed: UInt64, days: Int) {
    polite = PoliteSimulation(seed: seed, days: days).run()
    unconditional = PoliteSimulation(seed: seed, days: days, client: .unconditional).run()
  }

  /// The poller's failure: see ``PoliteReport/failure``.
  public var failure: String? { polite.failure }

  /// The table in Markdown.
  public var text: String {
    var (ours, others) = ([0, 0], [0, 0])
    let rows = TemperedServer.Temper.allCases.map { temper in
      let host = TemperedServer(temper).host
      let (polite, unconditional) = (self.polite.servers[host] ?? [0, 0], self.unconditional.servers[host] ?? [0, 0])
      ours = zip(ours, polite).map(+)
      others = zip(others, unconditional).map(+)
      return row(temper.summary, polite, unconditional)
    }
    let total = row("all", ours, others)
    return """
      | A server that | Requests | Naive | Bytes | Naive |
      | --- | ---: | ---: | ---: | ---: |
      \((rows + [total]).joined(separator: "\n"))
      """
  }

  private func row(_ name: String, _ polite: [Int], _ unconditional: [Int]) -> String {
    let numbers = [polite[0], unconditional[0], polite[1], unconditional[1]].map(grouped)
    return "| \(([name] + numbers).joined(separator: " | ")) |"
  }

  /// The number with separators: `1,234,567`.
  private func grouped(_ number: Int) -> String {
    let digits = String(number)
    return digits.enumerated().map { index, digit in
      let left = digits.count - index
      return left % 3 == 0 && index > 0 ? ",\(digit)" : "\(digit)"
    }.joined()
  }
}

extension TemperedServer.Temper {
  /// The server's behavior, worded to follow "a server that".
  fileprivate var summary: String {
    switch self {
    case .tagged: "sends an `ETag`"
    case .dated: "sends `Last-Modified` in an unusual form"
    case .restless: "changes its `ETag` with each 304"
    case .fresh: "sends `max-age=14400`"
    case .expiring: "sends `Expires`, two hours ahead"
    case .scheduled: "has `ttl`, `skipHours` and `skipDays` in its feed"
    case .strict: "requests pauses (429)"
    case .overloaded: "is sometimes overloaded (503)"
    case .flaky: "fails, drops connections, sends challenges"
    case .plain: "sends no validators"
    case .stubborn: "responds with 304 to every conditional request"
    case .leaving: "disappears: 404 from day 150, 410 from day 200"
    }
  }
}
