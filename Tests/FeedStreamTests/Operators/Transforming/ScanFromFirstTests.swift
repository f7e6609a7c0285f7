import FeedStream
import FeedStreamTesting
import TestSupport
import Testing

@Suite(.settled) struct ScanFromFirstTests {
  @Test func `scan without an initial value delivers the first value first, for each subscription`() {
    let longest = ["a", "ccc", "bb"].publisher.eraseToAnyPublisher().scan { $0.count > $1.count ? $0 : $1 }
    #expect(longest.record().values == ["a", "ccc", "ccc"])
    #expect(longest.record().values == ["a", "ccc", "ccc"])
    let tried = [5, 2, 3].publisher.eraseToAnyPublisher().tryScan { $0 - $1 }
    #expect(tried.record().values == [5, 3, 0])
    #expect(tried.record().values == [5, 3, 0])
  }

  @Test func `scan's closure isn't called for the first value`() {
    var combined = 0
    let recorder = Just(7).eraseToAnyPublisher().scan {
      combined += 1
      return $0 + $1
    }.record()
    recorder.expect("(7|)")
    #expect(combined == 0)
  }

  @Test func `scan delivers a result per value, and fails with a thrown error`() {
    withVirtualTime { time in
      expectMarbles(time.hot("-1-2--3-#", of: Int.self).scan(+), on: time, "-1-3--6-#")
    }
    withVirtualTime { time in
      let source: ScriptedPublisher<Int, MarbleFailure> = time.hot("-1-2--3-|")
      let sums = source.tryScan { if $1 == 3 { throw MarbleFailure() } else { $0 + $1 } }
      expectMarbles(sums, on: time, "-1-3--#", failure: MarbleFailure())
    }
  }
}
