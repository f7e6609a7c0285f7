// A search field: searches for the text once the typing pauses, and shows only the result of the latest search.
//
// Written for Combine, on a run loop. Only the import differs: `import FeedStream` replaces `import Combine`.
import FeedStream
import Foundation

let library = ["Lighthouse at dusk", "Light rain", "Night train", "Old harbour", "Harbour lights"]

/// Searches the library; a response takes a while, as it would from a server.
func search(_ text: String) -> AnyPublisher<[String], Never> {
  Just(library.filter { $0.localizedCaseInsensitiveContains(text) })
    .delay(for: .milliseconds(600), scheduler: RunLoop.main)
    .eraseToAnyPublisher()
}

let field = PassthroughSubject<String, Never>()

let results =
  field
  .debounce(for: .milliseconds(200), scheduler: RunLoop.main)
  .removeDuplicates()
  .map { text in search(text).map { (text, $0) } }
  .switchToLatest()

var isDone = false
let subscription = results.prefix(3).sink { _ in
  isDone = true
} receiveValue: { text, found in
  print("\(text): \(found.joined(separator: ", "))")
}

// The user types "ligh" quickly, "light" after a pause, "lights" and immediately "light" again, and then "harbour"
// while the search for "night" runs.
let typing: [(text: String, seconds: Double)] = [
  ("l", 0), ("li", 0.05), ("lig", 0.1), ("ligh", 0.15),
  ("light", 1.2),
  ("lights", 2.2), ("light", 2.25),
  ("night", 2.8), ("harbour", 3.2),
]
let keys = typing.publisher
  .flatMap { key in Just(key.text).delay(for: .seconds(key.seconds), scheduler: RunLoop.main) }
  .sink { field.send($0) }

while !isDone { RunLoop.main.run(until: Date(timeIntervalSinceNow: 0.05)) }
