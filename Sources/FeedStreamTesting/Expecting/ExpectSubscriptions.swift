import FeedStream

extension ScriptedPublisher {
  /// Fails the test unless the publisher's subscriptions match `diagrams`, in the order in which they were made.
  ///
  ///     source.expectSubscriptions("^---!", "--^--!")
  ///     unused.expectSubscriptions()
  ///
  /// Times are relative to the creation of the publisher. `!` marks a cancellation or the delivery of the completion;
  /// without `!`, the subscription is still live.
  ///
  /// - Parameters:
  ///   - diagrams: one diagram per expected subscription; see ``SubscriptionMarbles``.
  ///   - frame: the duration of one character.
  public func expectSubscriptions(
    _ diagrams: String..., frame: StreamInstant.Stride = .milliseconds(1), fileID: StaticString = #fileID,
    filePath: StaticString = #filePath, line: UInt = #line, column: UInt = #column
  ) {
    let site = CallSite(fileID: fileID, filePath: filePath, line: line, column: column)
    var expected: [SubscriptionMarbles] = []
    do throws(MarbleError) {
      for text in diagrams {
        let diagram = try SubscriptionMarbles(text, frame: frame)
        guard diagram.subscribed != nil else {
          throw MarbleError(text: text, offset: text.count, reason: "no subscription begins here; add a ^")
        }
        expected.append(diagram)
      }
    } catch {
      return time.fail("\(error)", site)
    }
    let actual = subscriptions.map { record in
      SubscriptionMarbles(
        subscribed: start.distance(to: record.subscribedAt),
        unsubscribed: [record.cancelledAt, record.endedAt].compactMap { $0 }.min().map { start.distance(to: $0) })
    }
    guard expected != actual else { return }
    let text = MarbleText(lanes("expected", expected) + lanes("actual", actual))
    let paste = actual.map { $0.text(frame: frame).quoted }.joined(separator: ", ")
    time.fail(
      """
      The subscriptions differ from the \(expected.count == 1 ? "diagram" : "diagrams"):
      \(text.draw(frame: frame, mark: nil) ?? text.draw())
      \(expected.isEmpty ? "No subscription was expected." : actual.isEmpty ? "There was no subscription." : "To paste: \(paste)")
      """, site)
  }

  private func lanes(_ title: String, _ subscriptions: [SubscriptionMarbles]) -> [MarbleText.Lane] {
    subscriptions.enumerated().map { index, subscription in
      subscription.lane(subscriptions.count == 1 ? title : "\(title) \(index + 1)")
    }
  }
}
