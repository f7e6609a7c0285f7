import FeedStream

/// The rule of an operator whose closure may throw: the error cancels upstream and fails the stream.
private final class Throwing: Model {
  private let change: (Int) throws -> Int?

  /// - Parameter change: the value to deliver; `nil` leaves it out, and one more is requested.
  init(_ parameters: Parameters, _ change: @escaping (Int) throws -> Int?) {
    self.change = change
    super.init(parameters)
  }
  required init(_ parameters: Parameters) { fatalError("a closure is needed") }

  private var isOver = false
  override func value(_ value: Int, _ source: Int) -> [Effect] {
    if isOver { return [] }
    do {
      return try change(value).map { [.emit($0)] } ?? [.request(0, 1)]
    } catch {
      isOver = true
      return [.end(.failed((error as! TestError).code))]
    }
  }
}

extension Parameters {
  /// Throws for about an eighth of the values.
  fileprivate func check(_ value: Int) throws { if value == numbers[0] % 8 { throw TestError(code: 7) } }
}

private func typed(_ error: any Error) -> TestError { error as! TestError }

var throwing: [Definition] {
  [
    Definition(
      name: "tryMap that throws",
      model: { parameters in
        Throwing(parameters) { value in
          try parameters.check(value)
          return value + 1
        }
      },
      build: { context -> AnyPublisher<Int, TestError> in
        let parameters = context.parameters
        return context.source().tryMap { (value: Int) throws -> Int in
          try parameters.check(value)
          return value + 1
        }.mapError(typed).eraseToAnyPublisher()
      }),
    Definition(
      name: "tryFilter",
      model: { parameters in
        Throwing(parameters) { value in
          try parameters.check(value)
          return parameters.holds(value) ? value : nil
        }
      },
      build: { context -> AnyPublisher<Int, TestError> in
        let parameters = context.parameters
        return context.source().tryFilter { (value: Int) throws -> Bool in
          try parameters.check(value)
          return parameters.holds(value)
        }.mapError(typed).eraseToAnyPublisher()
      }),
    Definition(
      name: "tryCompactMap",
      model: { parameters in
        Throwing(parameters) { value in
          try parameters.check(value)
          return parameters.holds(value) ? value + 1 : nil
        }
      },
      build: { context -> AnyPublisher<Int, TestError> in
        let parameters = context.parameters
        return context.source().tryCompactMap { (value: Int) throws -> Int? in
          try parameters.check(value)
          return parameters.holds(value) ? value + 1 : nil
        }.mapError(typed).eraseToAnyPublisher()
      }),
    Definition(
      name: "tryScan",
      model: { parameters in
        var sum = 1
        return Throwing(parameters) { value in
          try parameters.check(value)
          sum += value
          return sum
        }
      },
      build: { context -> AnyPublisher<Int, TestError> in
        let parameters = context.parameters
        return context.source().tryScan(1) { (sum: Int, value: Int) throws -> Int in
          try parameters.check(value)
          return sum + value
        }.mapError(typed).eraseToAnyPublisher()
      }),
    Definition(
      name: "tryRemoveDuplicates",
      model: { parameters in
        var last: Int?
        return Throwing(parameters) { value in
          defer { last = value }
          guard let before = last else { return value }
          try parameters.check(value)
          return before == value ? nil : value
        }
      },
      build: { context -> AnyPublisher<Int, TestError> in
        let parameters = context.parameters
        return context.source().tryRemoveDuplicates { (before: Int, value: Int) throws -> Bool in
          try parameters.check(value)
          return before == value
        }.mapError(typed).eraseToAnyPublisher()
      }),
    Definition(
      name: "tryDrop(while:)",
      model: { parameters in
        var hasBegun = false
        return Throwing(parameters) { value in
          if hasBegun { return value }
          try parameters.check(value)
          hasBegun = !parameters.holds(value)
          return hasBegun ? value : nil
        }
      },
      build: { context -> AnyPublisher<Int, TestError> in
        let parameters = context.parameters
        return context.source().tryDrop { (value: Int) throws -> Bool in
          try parameters.check(value)
          return parameters.holds(value)
        }.mapError(typed).eraseToAnyPublisher()
      }),
  ]
}
