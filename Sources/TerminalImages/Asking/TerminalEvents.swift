package import FeedStream

/// An event from a terminal.
package enum TerminalEvent: Hashable, Sendable {
  case key(TerminalKey)
  /// The terminal's abilities, once it has replied or the deadline has passed; delivered again after a late reply.
  case abilities(TerminalAbilities)
}

extension Terminal {
  /// The keys that are pressed, and the terminal's replies, which aren't keys.
  ///
  /// The query is sent when the terminal is in raw mode, so that no reply appears on the screen. Keys pressed in the
  /// meantime are delivered in order. A reply after the deadline is also delivered as a reply, not as a key.
  ///
  /// **Demand:** as in ``keys``. **Failure:** as in ``keys``. **Cancellation:** stops reading and leaves raw mode.
  /// **Policy:** holds the events of one key.
  ///
  /// - Parameters:
  ///   - question: the query; if there is none, the known abilities are delivered immediately.
  ///   - known: the abilities that are known in advance.
  ///   - deadline: the time to wait for the last reply.
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

/// Distinguishes replies from keys.
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
      guard let answer = TerminalAnswer(sequence) else {
        return KeyDecoder.isResponse(sequence) ? [] : [.key(.other(sequence))]
      }
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
