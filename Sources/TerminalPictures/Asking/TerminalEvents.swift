package import FeedStream

/// An event from a terminal.
package enum TerminalEvent: Hashable, Sendable {
  case key(TerminalKey)
  /// Its abilities: once it has answered, or will not; again when an answer comes late.
  case abilities(TerminalAbilities)
}

extension Terminal {
  /// The keys that are pressed, and the terminal's answers, which aren't keys.
  ///
  /// The question is sent when the terminal is raw, so that no answer shows on the screen. Keys pressed meanwhile are
  /// delivered in their order. An answer that comes after the deadline is delivered as well, and isn't a key either.
  ///
  /// **Demand:** as ``keys``. **Failure:** ``keys``'. **Cancellation:** stops reading and leaves raw mode. **Policy:** holds
  /// the events of one key.
  ///
  /// - Parameters:
  ///   - question: what to ask; without one, the abilities are those that are known, immediately.
  ///   - known: what is known before.
  ///   - deadline: how long to wait for the last answer.
  ///   - send: sends bytes to the terminal.
  package func events(
    asking question: TerminalQuestion?, knowing known: TerminalAbilities, deadline: Duration,
    on scheduler: any LoopScheduler, send: @escaping ([UInt8]) -> Void
  ) -> AnyPublisher<TerminalEvent, SystemError> {
    Deferred { [self] in
      var asking = Asking(abilities: known)
      let isOver =
        question == nil
        ? Just(()).eraseToAnyPublisher()
        : Just(()).delay(for: .init(deadline), scheduler: AnyLoopScheduler(scheduler)).eraseToAnyPublisher()
      return
        keys
        .handleEvents(receiveSubscription: { _ in if let question { send(question.bytes) } })
        .map(Asking.Input.key)
        .merge(with: isOver.map { Asking.Input.deadline }.setFailureType(to: SystemError.self))
        .flatMap(maxPublishers: .max(1)) { asking.take($0).publisher.setFailureType(to: SystemError.self) }
    }
    .eraseToAnyPublisher()
  }
}

/// Tells answers from keys.
private struct Asking {
  enum Input {
    case key(TerminalKey)
    case deadline
  }

  var abilities: TerminalAbilities
  private var isOver = false

  init(abilities: TerminalAbilities) { self.abilities = abilities }

  mutating func take(_ input: Input) -> [TerminalEvent] {
    switch input {
    case .deadline:
      guard !isOver else { return [] }
      isOver = true
      return [.abilities(abilities)]
    case .key(.other(let sequence)):
      guard let answer = TerminalAnswer(sequence) else { return [.key(.other(sequence))] }
      let former = abilities
      abilities.take(answer)
      guard isOver else {
        guard case .attributes = answer else { return [] }
        isOver = true
        return [.abilities(abilities)]
      }
      return abilities == former ? [] : [.abilities(abilities)]
    case .key(let key): return [.key(key)]
    }
  }
}
