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
}
