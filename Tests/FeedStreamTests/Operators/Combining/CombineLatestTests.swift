import FeedStream
import FeedStreamTesting
import TestSupport
import Testing

@Suite(.settled) struct CombineLatestTests {
  @Test func `combineLatest of three and of four combines the newest, however little is asked for`() {
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

  private func subject() -> PassthroughSubject<Int, Never> { PassthroughSubject() }
}
