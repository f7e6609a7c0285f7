import FeedStream
import TestSupport
import Testing

@Suite(.settled) struct AssignTests {
  @Test func `assign writes every value and releases the object on completion`() {
    final class Label { var text = "" }
    let subject = PassthroughSubject<String, Never>()
    weak var label: Label?
    do {
      let object = Label()
      label = object
      let cancellable = subject.assign(to: \.text, on: object)
      subject.send("a")
      #expect(object.text == "a")
      subject.send(completion: .finished)
      withExtendedLifetime(cancellable) {}
    }
    #expect(label == nil)
  }
}
