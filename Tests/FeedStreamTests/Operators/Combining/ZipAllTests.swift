import FeedStream
import FeedStreamTesting
import TestSupport
import Testing

@Suite(.settled) struct ZipAllTests {
  @Test func `zip takes any number of publishers of different types`() {
    let zipped = zip(Just(1), Just("a"), Just(2.5), Just(true), Just(Character("z"))).record()
    #expect(zipped.values.count == 1)
    #expect(zipped.values[0] == (1, "a", 2.5, true, "z"))
    #expect(zipped.completion == .finished)
  }

  @Test func `zip of two to four publishers keeps their types`() {
    let two: Publishers.Zip<Just<Int>, Just<String>> = zip(Just(1), Just("a"))
    #expect(two.record().values[0] == (1, "a"))
    let three: Publishers.Zip3<Just<Int>, Just<Int>, Just<Int>> = zip(Just(1), Just(2), Just(3))
    #expect(three.record().values[0] == (1, 2, 3))
    #expect(zip(Just(1), Just(2), Just(3), Just(4)).record().values[0] == (1, 2, 3, 4))
    // Publishers of unknown types are type-erased.
    let unknown: any Publisher<Int, Never> = Just(2)
    #expect(zip(Just(1), unknown).record().values[0] == (1, 2))
  }

  @Test func `a completed or cancelled zip releases everything it held`() {
    weak var held: Held?
    do {
      let object = Held()
      held = object
      zip(Just(1).map { [object] in ($0, object) }, Just(2), Just(3), Just(4), Just(5)).sink { _ in }.cancel()
    }
    #expect(held == nil)
  }
}

private final class Held {}
