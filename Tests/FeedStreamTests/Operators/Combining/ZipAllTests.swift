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

  @Test func `a subscription that is over releases everything it held`() {
    weak var held: Held?
    do {
      let object = Held()
      held = object
      zip(Just(1).map { [object] in ($0, object) }, Just(2), Just(3)).sink { _ in }.cancel()
    }
    #expect(held == nil)
  }
}

private final class Held {}
