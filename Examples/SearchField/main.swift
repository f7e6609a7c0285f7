// A search field: waits for a pause in typing, requests each new text once, and ignores responses that arrive too late.
//
//     swift run SearchField

import FeedStream

let loop = EventLoop()
let field = PassthroughSubject<String, Never>()

/// Stands in for a slow server, which is even slower for shorter queries.
func search(for text: String) -> AnyPublisher<String, Never> {
  print("requested \"\(text)\"")
  return Just("\(text.count * 100) images of \"\(text)\"")
    .delay(for: .milliseconds(text.count < 4 ? 1000 : 50), scheduler: loop)
    .eraseToAnyPublisher()
}

let subscription =
  field
  .debounce(for: .milliseconds(200), scheduler: loop)
  .removeDuplicates()
  .flatMapLatest { search(for: $0) }
  .sink { print("showing \($0)") }

// The user types "sea" and pauses, continues to "seagull" before the response arrives, deletes a mistake, and stops.
let typed: [(milliseconds: Int, text: String)] = [
  (0, "s"), (50, "se"), (100, "sea"), (600, "seag"), (650, "seagu"), (700, "seagull"), (1300, "seagulls"),
  (1350, "seagull"),
]
for key in typed {
  loop.schedule(after: loop.now.advanced(by: .milliseconds(key.milliseconds))) { field.send(key.text) }
}
loop.schedule(after: loop.now.advanced(by: .milliseconds(1700))) { field.send(completion: .finished) }

loop.run()
withExtendedLifetime(subscription) {}
