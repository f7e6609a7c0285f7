import FeedStream
import FeedStreamTesting
import TestSupport
import Testing

@Suite(.settled) struct MergeTests {
  @Test func `merge takes up to eight publishers, or a collection`() {
    let many = Just(1).merge(with: Just(2), Just(3), Just(4), Just(5), Just(6), Just(7), Just(8))
    #expect(many.record().values == [1, 2, 3, 4, 5, 6, 7, 8])
    let three: Publishers.Merge3<Just<Int>, Just<Int>, Just<Int>> = Just(1).merge(with: Just(2), Just(3))
    #expect(three.record(demand: .max(2)).values == [1, 2])
    #expect([Just(1), Just(2)].merge().record().values == [1, 2])
    #expect(merge(Just(1), [2, 3].publisher, Empty()).record().values == [1, 2, 3])
  }

  @Test func `merge delivers all values as they come, and finishes with the last publisher`() {
    withVirtualTime { time in
      let recorder = time.hot("a--b|").merge(with: time.hot("-1-2---|")).record(on: time)
      time.run()
      recorder.expect("a1-(b2)---|")
    }
  }

  @Test func `every form of merge holds at most one value per publisher`() {
    var made: [Int] = []
    func source(_ index: Int) -> some Publisher<Int, Never> {
      (0..<9).publisher.handleEvents(receiveOutput: { _ in made.append(index) })
    }
    let (a, b, c, d) = (source(0), source(1), source(2), source(3))
    let (first, second, third) = (a.map(\.self), b.filter { _ in true }, c.scan(0, +))
    let ways: [AnyPublisher<Int, Never>] = [
      first.merge(with: second).merge(with: third).merge(with: d).eraseToAnyPublisher(),
      first.merge(with: second, third, d).eraseToAnyPublisher(),
      Publishers.Merge4(first, second, third, d).eraseToAnyPublisher(),
      Publishers.Merge(Publishers.Merge3(first, second, third), d).eraseToAnyPublisher(),
      [a, b, c, d].merge().eraseToAnyPublisher(),
    ]
    for merged in ways {
      made = []
      merged.record(demand: .none).cancel()
      #expect(made == [0, 1, 2, 3])
    }
  }

  @Test func `requested values are delivered before a publisher's failure`() {
    let subjects = (0..<4).map { _ in PassthroughSubject<Int, Boom>() }
    let recorder = subjects.merge().record(demand: .max(1))
    recorder.onValue = { if $0 == 1 { subjects[0].send(completion: .failure(Boom())) } }
    for index in 0..<4 { subjects[index].send(index) }
    #expect(recorder.values == [0])
    // 3 is not requested.
    recorder.request(.max(2))
    #expect(recorder.values == [0, 1, 2])
    #expect(recorder.failure == Boom())
  }

  @Test func `held values that the subscriber requests during a delivery come before a failure`() {
    func check(_ join: ([PassthroughSubject<Int, Boom>]) -> some Publisher<Int, Boom>) {
      let (a, b) = (PassthroughSubject<Int, Boom>(), PassthroughSubject<Int, Boom>())
      let recorder = join([a, b]).record(demand: .oneByOne)
      recorder.onValue = { value in
        guard value == 1 else { return }
        b.send(2)
        b.send(completion: .failure(Boom()))
      }
      a.send(1)
      #expect(recorder.values == [1, 2])
      #expect(recorder.failure == Boom())
    }
    check { $0.merge() }
    check { $0[0].merge(with: $0[1]) }
    check { $0.publisher.flatMap { $0 } }
  }

  @Test func `a failure during a nested delivery comes after the values that the outer delivery requests`() {
    let subjects = (0..<4).map { _ in PassthroughSubject<Int, Boom>() }
    let recorder = subjects.merge().record(demand: DemandScript(initial: .max(2), answers: [.max(1), .none]))
    recorder.onValue = { value in
      if value == 0 { subjects[1].send(1) }
      guard value == 1 else { return }
      // Held. 2 is requested by the answer to 0, and 3 is not requested.
      subjects[2].send(2)
      subjects[3].send(3)
      subjects[3].send(completion: .failure(Boom()))
    }
    subjects[0].send(0)
    #expect(recorder.values == [0, 1, 2])
    #expect(recorder.failure == Boom())
  }
}
