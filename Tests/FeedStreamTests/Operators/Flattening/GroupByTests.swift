import FeedStream
import FeedStreamTesting
import TestSupport
import Testing

@Suite(.settled) struct GroupByTests {
  @Test func `groupBy delivers a publisher per key, starting with the value that opened it`() {
    let subject = PassthroughSubject<Int, Never>()
    var seen: [String] = []
    let cancellable = subject.groupBy { $0 % 2 == 0 ? "even" : "odd" }
      .flatMap { group in group.map { "\(group.key) \($0)" } }
      .sink { seen.append($0) }
    for value in 1...4 { subject.send(value) }
    #expect(seen == ["odd 1", "even 2", "odd 3", "even 4"])
    cancellable.cancel()
  }

  @Test func `a group holds unrequested values, and its completion`() {
    let groups = [1, 2, 3].publisher.groupBy { $0 % 2 }.record()
    #expect(groups.completion == .finished)
    let odd = groups.values[0].record(demand: .max(1))
    #expect(odd.values == [1])
    odd.request(.max(1))
    #expect(odd.values == [1, 3])
    #expect(odd.completion == .finished)
  }

  @Test func `the next value with a cancelled group's key opens a new group`() {
    let subject = PassthroughSubject<Int, Never>()
    let groups = subject.groupBy { _ in 0 }.record()
    subject.send(1)
    groups.values[0].record().cancel()
    subject.send(2)
    #expect(groups.values.count == 2)
    #expect(groups.values.last!.record().values == [2])
    groups.cancel()
  }

  @Test func `cancelling the stream of groups finishes the groups`() {
    let subject = PassthroughSubject<Int, Never>()
    let groups = subject.groupBy { $0 }.record()
    for key in [1, 2] { subject.send(key) }
    let taken = groups.values[0].record()
    groups.cancel()
    #expect(taken.values == [1])
    #expect(taken.completion == .finished)
    #expect(groups.values[1].record().completion == .finished)
  }

  @Test func `groups complete in the order in which they were opened`() {
    let subject = PassthroughSubject<Int, Never>()
    var ended: [Int] = []
    var cancellables: Set<AnyCancellable> = []
    subject.groupBy { $0 }.sink { group in
      group.sink(receiveCompletion: { _ in ended.append(group.key) }, receiveValue: { _ in }).store(in: &cancellables)
    }.store(in: &cancellables)
    for key in 0..<32 { subject.send(key) }
    subject.send(completion: .finished)
    #expect(ended == Array(0..<32))
  }

  @Test func `a second subscriber to a group traps`() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      var cancellables: Set<AnyCancellable> = []
      Just(1).groupBy { $0 }.sink { group in
        group.sink { _ in }.store(in: &cancellables)
        group.sink { _ in }.store(in: &cancellables)
      }.store(in: &cancellables)
    }
    #expect(result?.says("use share() for several") == true)
  }

  @Test(arguments: [true, false]) func `a group used in its own chain is released on completion`(_ isFailure: Bool) {
    final class Value {}
    weak var value: Value?
    let subject = PassthroughSubject<Value, Boom>()
    let recorder: Recorder<Int, Boom>
    do {
      let sent = Value()
      value = sent
      recorder = subject.groupBy { _ in 0 }.flatMap { group in group.map { (group, $0) } }.map { $0.0.key }.record()
      weak var group: GroupedPublisher<Int, Value, Boom>?
      let groups = subject.groupBy { _ in 0 }.handleEvents(receiveOutput: { group = $0 })
        .flatMap { group in group.map { _ in group.key } }.record()
      subject.send(sent)
      #expect(group != nil)
      subject.send(completion: isFailure ? .failure(Boom()) : .finished)
      #expect(group == nil)
      #expect(groups.values == [0])
      #expect((groups.failure != nil) == isFailure)
    }
    #expect(recorder.values == [0])
    #expect(value == nil)
    #expect((recorder.failure != nil) == isFailure)
  }

  @Test func `requested groups are delivered before the source's failure`() {
    let subject = PassthroughSubject<Int, Boom>()
    let groups = subject.groupBy { $0 }.record()
    groups.onValue = { group in
      guard group.key == 1 else { return }
      subject.send(2)
      subject.send(completion: .failure(Boom()))
    }
    subject.send(1)
    #expect(groups.values.map(\.key) == [1, 2])
    #expect(groups.failure == Boom())
    #expect(groups.values.last?.record().failure == Boom())
  }
}
