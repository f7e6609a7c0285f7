import Harness

/// Adds the Scrabble benchmark as loops, with the same tables and collections as the publishers.
func addScrabble(to all: inout Pipelines) {
  let words = ScrabbleWords.shared
  all.add("Scrabble, a word", .lifecycle) { count in
    let text = words.words(count)
    return {
      var board = ScoreBoard()
      for word in text where words.dictionary.contains(word) && fits(word) { board = board.adding(word, score(word)) }
      return board.entries.prefix(3).reduce(0) { $0 &+ $1.score &* $1.words.count }
    }
  }
}

private func histogram(_ word: [UInt8]) -> Histogram {
  var histogram = Histogram()
  for letter in word { histogram = histogram.adding(letter) }
  return histogram
}

private func fits(_ word: [UInt8]) -> Bool {
  var blanks = 0
  for entry in histogram(word).entries { blanks += max(0, entry.count - ScrabbleWords.tiles[entry.letter]) }
  return blanks <= 2
}

private func score(_ word: [UInt8]) -> Int {
  var letters = 0
  for (letter, count) in histogram(word).entries {
    letters += ScrabbleWords.scores[letter] * min(count, ScrabbleWords.tiles[letter])
  }
  var best = 0
  for letter in word { best = max(best, ScrabbleWords.scores[Int(letter)]) }
  return letters * 2 + best * 2 + (word.count == 7 ? 50 : 0)
}
