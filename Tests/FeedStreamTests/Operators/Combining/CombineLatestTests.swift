import FeedStream
import FeedStreamTesting
import TestSupport
import Testing

@Suite(.settled) struct CombineLatestTests {
  @Test func `combineLatest of three and of four combines the newest values, whatever the demand`() {
    let (a, b, c, d) = (subject(), subject(), subject(), subject())
    let three = a.combineLatest(b, c).record(demand: .max(2))
    let four = a.combineLatest(b, c, d).record(demand: .max(2))
    let pack = combineLatest(a, b, c).record(demand: .max(2))
    for number in [1, 2] {
      a.send(number)
      b.send(number)
    }
    d.send(8)
    c.send(9)
    #expect(three.values.map { [$0, $1, $2] } == [[2, 2, 9]])
    #expect(four.values.map { [$0, $1, $2, $3] } == [[2, 2, 9, 8]])
    #expect(pack.values.map { [$0, $1, $2] } == [[2, 2, 9]])
    for recorder in [three.cancel, four.cancel, pack.cancel] { recorder() }
  }

  @Test func `every form of combineLatest combines synchronous sources as they deliver`() {
    let (a, b) = ([1, 2, 3].publisher, [4, 5, 6].publisher)
    for form in forms(a.eraseToAnyPublisher(), b.eraseToAnyPublisher()) {
      #expect(form.record().values == [[3, 4], [3, 5], [3, 6]])
      let pulled = form.record(demand: .oneByOne)
      #expect(pulled.values == [[1, 4], [2, 4], [3, 4], [3, 5], [3, 6]])
      #expect(pulled.completion == .finished)
    }
    let current = CurrentValueSubject<Int, Never>(0)
    for form in forms(current.eraseToAnyPublisher(), b.eraseToAnyPublisher()) {
      let recorder = form.record()
      #expect(recorder.values == [[0, 4], [0, 5], [0, 6]])
      recorder.cancel()
    }
  }

  @Test func `combinations made during a delivery are all delivered, as many as were requested`() {
    let (a, b) = (subject(), subject())
    let all = [[1, 1], [2, 1], [3, 1], [3, 2], [3, 3]]
    for form in forms(a.eraseToAnyPublisher(), b.eraseToAnyPublisher()) {
      // Without demand, a newer combination replaces an older one.
      for demand in [5, 4, 3] {
        let recorder = form.record(demand: .max(demand))
        recorder.onValue = { value in
          guard value == [1, 1] else { return }
          for number in 2...3 { a.send(number) }
          for number in 2...3 { b.send(number) }
        }
        a.send(1)
        b.send(1)
        #expect(recorder.values == Array(all.prefix(demand)))
        recorder.request(.max(1))
        #expect(recorder.values == Array(all.prefix(demand)) + (demand < 5 ? [[3, 3]] : []))
        recorder.cancel()
      }
    }
  }

  private func forms(_ a: AnyPublisher<Int, Never>, _ b: AnyPublisher<Int, Never>) -> [AnyPublisher<[Int], Never>] {
    [
      a.combineLatest(b) { [$0, $1] }.eraseToAnyPublisher(), [a, b].combineLatest().eraseToAnyPublisher(),
      combineLatest(a, b).map { [$0, $1] }.eraseToAnyPublisher(),
    ]
  }

  private func subject() -> PassthroughSubject<Int, Never> { PassthroughSubject() }
}
