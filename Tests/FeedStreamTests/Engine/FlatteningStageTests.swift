import FeedStream
import TestSupport
import Testing

/// Shared behavior of the operators on `FlatteningStage`: events that arrive while a mapped publisher delivers.
@Suite(.settled) struct FlatteningStageTests {
  /// Three values made from a number, by a publisher that delivers them immediately, type-erased or not.
  private static func three(_ number: Int) -> AnyPublisher<Int, Boom> {
    (0..<3).map { number * 10 + $0 }.publisher.setFailureType(to: Boom.self).eraseToAnyPublisher()
  }

  private enum Rival: CaseIterable { case flatMapLatest, concatMap, flatMapFirst }

  /// Sends 1, runs `act` during the delivery of 11, and returns the received events.
  private func received(_ rival: Rival, in act: @escaping (PassthroughSubject<Int, Boom>) -> Void) -> [String] {
    let subject = PassthroughSubject<Int, Boom>()
    var log: [String] = []
    let mapped =
      switch rival {
      case .flatMapLatest: subject.flatMapLatest(Self.three).eraseToAnyPublisher()
      case .concatMap: subject.concatMap(Self.three).eraseToAnyPublisher()
      case .flatMapFirst: subject.flatMapFirst(Self.three).eraseToAnyPublisher()
      }
    let subscription = mapped.sink {
      log.append($0 == .finished ? "|" : "#")
    } receiveValue: { value in
      log.append("\(value)")
      if value == 11 { act(subject) }
    }
    subject.send(1)
    withExtendedLifetime(subscription) {}
    return log
  }

  @Test func `a value sent while a sequence is delivered replaces it, waits or is dropped`() {
    #expect(received(.flatMapLatest) { $0.send(2) } == ["10", "11", "20", "21", "22"])
    #expect(received(.concatMap) { $0.send(2) } == ["10", "11", "12", "20", "21", "22"])
    #expect(received(.flatMapFirst) { $0.send(2) } == ["10", "11", "12"])
  }

  @Test(arguments: Rival.allCases)
  private func `during a sequence's delivery, a finish waits for it and a failure doesn't`(rival: Rival) {
    #expect(received(rival) { $0.send(completion: .finished) } == ["10", "11", "12", "|"])
    #expect(received(rival) { $0.send(completion: .failure(Boom())) } == ["10", "11", "#"])
  }
}
