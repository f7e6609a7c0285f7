import FeedStream
import Foundation

// Values that own their subscriptions to the stream of the values: each screen observes which screen is the current
// one. The operator that holds the last screen releases it, which cancels the operator's own stream.
// Expects: 0 of 1500 screens are left

final class Screen {
  nonisolated(unsafe) static var count = 0
  let name: String
  var subscriptions = Set<AnyCancellable>()

  init(_ number: Int) {
    name = "the screen with the number \(number)"
    Screen.count += 1
  }
  deinit { Screen.count -= 1 }
}

final class App {
  @Published var screen: Screen?
  @Published var number = 0
}

func visitScreens(_ observe: (App) -> AnyPublisher<Screen?, Never>) {
  let app = App()
  for number in 0..<300 {
    let screen = Screen(number)
    observe(app)
      .sink { [weak screen] current in if current !== screen { _ = current?.name.count } }
      .store(in: &screen.subscriptions)
    app.screen = screen
    app.number = number
    if number % 3 == 0 { RunLoop.main.run(until: Date() + 0.001) }
  }
  app.screen = nil
  RunLoop.main.run(until: Date() + 0.02)
}

visitScreens { $0.$screen.receive(on: DispatchQueue.main).removeDuplicates { $0 === $1 }.eraseToAnyPublisher() }
visitScreens { $0.$screen.removeDuplicates { $0 === $1 }.scan { $1 }.eraseToAnyPublisher() }
visitScreens { $0.$screen.combineLatest($0.$number).map(\.0).eraseToAnyPublisher() }
visitScreens { $0.$number.withLatestFrom($0.$screen).map(\.1).eraseToAnyPublisher() }
visitScreens {
  $0.$screen.throttle(for: .milliseconds(1), scheduler: RunLoop.main, latest: true).eraseToAnyPublisher()
}

for _ in 0..<500 where Screen.count > 0 { RunLoop.main.run(until: Date() + 0.02) }
print("\(Screen.count) of 1500 screens are left")
