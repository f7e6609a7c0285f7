import FeedStream
import FeedStreamTesting
import TestSupport
import Testing

/// Operators of several publishers, with every sequence of events that these may send.
@Suite("Rules for operators with several upstreams", .settled) struct JoiningRules {
  typealias Upstreams = [AnyPublisher<Int, MarbleFailure>]
  typealias History = [JoinEvent]
  typealias Sums = (History) -> (values: [Int], ending: Given.Ending?)

  @Test func `zip pairs values, fails with the first failure, and cancels no upstream before that`() {
    StreamRules.verify("zip of two", joining: 2, events: 5, expects: zipped(2)) { $0[0].zip($0[1]) { [$0, $1] } }
    StreamRules.verify("zip of three", joining: 3, events: 5, expects: zipped(3)) {
      $0[0].zip($0[1], $0[2]) { [$0, $1, $2] }
    }
    StreamRules.verify("zip of four", joining: 4, events: 4, expects: zipped(4)) {
      $0[0].zip($0[1], $0[2], $0[3]) { [$0, $1, $2, $3] }
    }
    StreamRules.verify("zip of any number", joining: 3, events: 5, expects: zipped(3)) {
      zip($0[0], $0[1], $0[2]).map { [$0, $1, $2] }
    }
    StreamRules.verify("zip of a collection", joining: 3, events: 5, expects: zipped(3)) { $0.zip() }
  }

  @Test func `combineLatest delivers the newest values, and completes with the last or the first failure`() {
    StreamRules.verify("combineLatest of two", joining: 2, events: 5, expects: latest(2)) {
      $0[0].combineLatest($0[1]) { [$0, $1] }
    }
    StreamRules.verify("combineLatest of three", joining: 3, expects: latest(3)) {
      $0[0].combineLatest($0[1], $0[2]) { [$0, $1, $2] }
    }
    StreamRules.verify("combineLatest of four", joining: 4, expects: latest(4)) {
      $0[0].combineLatest($0[1], $0[2], $0[3]) { [$0, $1, $2, $3] }
    }
    StreamRules.verify("combineLatest of any number", joining: 3, expects: latest(3)) {
      combineLatest($0[0], $0[1], $0[2]).map { [$0, $1, $2] }
    }
    StreamRules.verify("combineLatest of a collection", joining: 3, expects: latest(3)) { $0.combineLatest() }
  }

  @Test func `merge delivers all values, and completes with the last or the first failure`() {
    StreamRules.verify("merge of two", joining: 2, events: 5, expects: merged(2)) { $0[0].merge(with: $0[1]) }
    StreamRules.verify("merge of three", joining: 3, expects: merged(3)) { $0[0].merge(with: $0[1], $0[2]) }
    StreamRules.verify("merge of four", joining: 4, events: 3, expects: merged(4)) {
      $0[0].merge(with: $0[1], $0[2], $0[3])
    }
    StreamRules.verify("merge of any number", joining: 3, expects: merged(3)) { merge($0[0], $0[1], $0[2]) }
    StreamRules.verify("merge of a collection", joining: 3, expects: merged(3)) { $0.merge() }
    StreamRules.verify("flatMap", joining: 3, expects: merged(3)) { upstreams in
      upstreams.publisher.setFailureType(to: MarbleFailure.self).flatMap { $0 }
    }
  }

  @Test func `race delivers the first publisher that delivers`() {
    StreamRules.verify("race of two", joining: 2, events: 5, cancelsEarly: true, expects: raced) {
      $0[0].race(with: $0[1])
    }
    StreamRules.verify("race of a collection", joining: 3, cancelsEarly: true, expects: raced) { $0.race() }
  }

  @Test func `withLatestFrom completes with upstream, the first failure or an empty other publisher`() {
    let expects = { (history: History) -> (values: [[Int]], ending: Given.Ending?) in
      let values = history.indices.compactMap { index -> [Int]? in
        guard history[index].upstream == 0, let value = history[index].value else { return nil }
        return Array(history[..<index]).values(of: 1).last.map { [value, $0] }
      }
      let isDone = history.hasEnded(0) || history.hasEnded(1) && history.values(of: 1).isEmpty
      return (values, history.ending(finishedWhen: isDone))
    }
    StreamRules.verify("withLatestFrom", joining: 2, events: 5, expects: expects) {
      $0[0].withLatestFrom($0[1]) { [$0, $1] }
    }
  }

  @Test func `an operator that loses a failure is reported with the shortest script`() {
    var found: StreamRule?
    withKnownIssue {
      found =
        StreamRules.verify("a zip of a zip", joining: 3, events: 5, expects: zipped(3)) {
          $0[0].zip($0[1]).zip($0[2]) { [$0.0, $0.1, $1] }
        }.broken
    }
    #expect(found != nil)
  }

  private func zipped(_ count: Int) -> (History) -> (values: [[Int]], ending: Given.Ending?) {
    { history in
      let lanes = (0..<count).map { history.values(of: $0) }
      let full = lanes.map(\.count).min()!
      let isDone = (0..<count).contains { history.hasEnded($0) && lanes[$0].count == full }
      return ((0..<full).map { place in lanes.map { $0[place] } }, history.ending(finishedWhen: isDone))
    }
  }

  private func latest(_ count: Int) -> (History) -> (values: [[Int]], ending: Given.Ending?) {
    { history in
      var newest = [Int?](repeating: nil, count: count)
      var values: [[Int]] = []
      for event in history {
        guard let value = event.value else { continue }
        newest[event.upstream] = value
        if !newest.contains(nil) { values.append(newest.map { $0! }) }
      }
      let ended = (0..<count).filter { history.hasEnded($0) }
      let isDone = ended.count == count || ended.contains { newest[$0] == nil }
      return (values, history.ending(finishedWhen: isDone))
    }
  }

  private func merged(_ count: Int) -> Sums {
    { history in
      (history.compactMap(\.value), history.ending(finishedWhen: (0..<count).allSatisfy { history.hasEnded($0) }))
    }
  }

  private var raced: Sums {
    { history in
      guard let winner = history.first?.upstream else { return ([], nil) }
      let own = history.filter { $0.upstream == winner }
      return (own.compactMap(\.value), own.ending(finishedWhen: own.hasEnded(winner)))
    }
  }
}
