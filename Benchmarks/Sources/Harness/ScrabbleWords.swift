/// The words, tiles and scores of the Scrabble benchmark, which was written for Java's streams and for RxJava.
///
/// The words are generated, so that every contender has the same ones without a download: as many letters and as
/// frequent ones as in English. `Benchmarks/futures.rs` generates the same words.
public struct ScrabbleWords: Sendable {
  /// The text; a letter is a number from 0 for A to 25 for Z.
  public let text: [[UInt8]]
  /// The words that count: three in four.
  public let dictionary: Set<[UInt8]>

  public static let shared = ScrabbleWords()

  /// The score of each letter.
  public static let scores = [1, 3, 3, 2, 1, 4, 2, 4, 1, 8, 5, 1, 3, 1, 1, 3, 10, 1, 1, 1, 1, 4, 4, 8, 4, 10]
  /// The number of tiles of each letter.
  public static let tiles = [9, 2, 2, 1, 12, 2, 3, 2, 9, 1, 1, 4, 2, 6, 8, 2, 1, 6, 4, 6, 4, 2, 2, 1, 2, 1]
  /// How often each letter is in a thousand letters of English.
  private static let frequencies = [
    82, 15, 28, 43, 127, 22, 20, 61, 70, 2, 8, 40, 24, 67, 75, 19, 1, 60, 63, 91, 28, 10, 24, 2, 17, 1,
  ]

  private init() {
    var state: UInt64 = 1
    func next(below limit: Int) -> Int {
      state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      return Int(state >> 33) % limit
    }
    let letters = Self.frequencies.enumerated().flatMap { Array(repeating: UInt8($0), count: $1) }
    var text: [[UInt8]] = []
    var dictionary: Set<[UInt8]> = []
    for _ in 0..<20_000 {
      let length = 2 + next(below: 9)
      let word = (0..<length).map { _ in letters[next(below: letters.count)] }
      text.append(word)
      if next(below: 4) > 0 { dictionary.insert(word) }
    }
    self.text = text
    self.dictionary = dictionary
  }

  /// The first `count` words of the text, which is repeated.
  public func words(_ count: Int) -> [[UInt8]] { (0..<count).map { text[$0 % text.count] } }
}

/// The number of each letter in a word.
public final class Histogram {
  private var counts: [UInt8: Int] = [:]

  public init() {}

  public func adding(_ letter: UInt8) -> Histogram {
    counts[letter, default: 0] += 1
    return self
  }

  public var entries: [(letter: Int, count: Int)] { counts.map { (Int($0), $1) } }
}

/// The words of each score.
public final class ScoreBoard {
  private var words: [Int: [[UInt8]]] = [:]

  public init() {}

  public func adding(_ word: [UInt8], _ score: Int) -> ScoreBoard {
    words[score, default: []].append(word)
    return self
  }

  /// The scores and their words, best first.
  public var entries: [(score: Int, words: [[UInt8]])] { words.sorted { $0.key > $1.key }.map { ($0, $1) } }
}
