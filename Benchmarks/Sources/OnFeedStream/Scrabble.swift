import Harness

#if ON_OPENCOMBINE
  import OpenCombine
#else
  import FeedStream
#endif

/// Adds the Scrabble benchmark: which words of a text give the three best scores? Everything is a publisher, down to the
/// letters of a word, as in its version for RxJava. A word takes six subscriptions.
func addScrabble(to all: inout Pipelines) {
  let words = ScrabbleWords.shared
  all.add("Scrabble, a word", .lifecycle) { count in
    let text = words.words(count)
    return {
      var total = 0
      let board = Elements(text).filter(words.dictionary.contains).filter { first(fits($0)) }
        .reduce(ScoreBoard()) { $0.adding($1, first(score($1))) }
      let subscription = board.flatMap { Elements($0.entries) }.prefix(3)
        .sink { total &+= $0.score &* $0.words.count }
      withExtendedLifetime(subscription) {}
      return total
    }
  }
}

/// The elements of an array. The array's own publisher has operators that run before anyone subscribes.
private struct Elements<Output>: Publisher {
  typealias Failure = Never

  let elements: [Output]

  init(_ elements: [Output]) { self.elements = elements }

  func receive<S: Subscriber>(subscriber: S) where S.Input == Output, S.Failure == Never {
    Publishers.Sequence<[Output], Never>(sequence: elements).receive(subscriber: subscriber)
  }
}

/// The first value of a publisher that delivers it immediately.
private func first<P: Publisher>(_ publisher: P) -> P.Output where P.Failure == Never {
  var value: P.Output?
  let subscription = publisher.sink { value = $0 }
  withExtendedLifetime(subscription) {}
  return value!
}

private func histogram(_ word: [UInt8]) -> some Publisher<Histogram, Never> {
  Elements(word).reduce(Histogram()) { $0.adding($1) }
}

/// True if at most two letters of the word need a blank tile.
private func fits(_ word: [UInt8]) -> some Publisher<Bool, Never> {
  histogram(word).flatMap { Elements($0.entries) }.map { max(0, $0.count - ScrabbleWords.tiles[$0.letter]) }
    .reduce(0, +).map { $0 <= 2 }
}

private func score(_ word: [UInt8]) -> some Publisher<Int, Never> {
  let letters = histogram(word).flatMap { Elements($0.entries) }
    .map { ScrabbleWords.scores[$0.letter] * min($0.count, ScrabbleWords.tiles[$0.letter]) }.reduce(0, +)
  // The best of the first three letters, and of the letters after them.
  let best = Elements(word).prefix(3).append(Elements(word).dropFirst(3)).map { ScrabbleWords.scores[Int($0)] }
    .reduce(0, max)
  return letters.map { $0 * 2 }.append(best.map { $0 * 2 }).append(Just(word.count == 7 ? 50 : 0)).reduce(0, +)
}
