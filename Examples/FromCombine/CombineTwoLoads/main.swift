// Two concurrent loads: shown together when both have arrived, or not at all when either fails.
//
// Written for Combine, on a run loop. Only the import differs: `import FeedStream` replaces `import Combine`.
import FeedStream
import Foundation

struct Profile: Decodable {
  let name: String
}

struct Photo: Decodable {
  let title: String
}

/// Delivers the body after a while, as a server does.
func load(_ body: String, after seconds: Double) -> AnyPublisher<Data, any Error> {
  Just(Data(body.utf8))
    .delay(for: .seconds(seconds), scheduler: RunLoop.main)
    .setFailureType(to: (any Error).self)
    .eraseToAnyPublisher()
}

func show(_ profile: AnyPublisher<Data, any Error>, _ photos: AnyPublisher<Data, any Error>) {
  var isDone = false
  let subscription =
    profile.decode(type: Profile.self, decoder: JSONDecoder())
    .zip(photos.decode(type: [Photo].self, decoder: JSONDecoder()))
    .sink { completion in
      if case .failure = completion { print("Could not load the page") }
      isDone = true
    } receiveValue: { profile, photos in
      print("\(profile.name): \(photos.map(\.title).joined(separator: ", "))")
    }
  while !isDone { RunLoop.main.run(until: Date(timeIntervalSinceNow: 0.05)) }
  subscription.cancel()
}

let profile = load(#"{"name": "Ada"}"#, after: 0.1)
show(profile, load(#"[{"title": "Lighthouse"}, {"title": "Harbour"}]"#, after: 0.2))
show(profile, load("the server is down", after: 0.05))
