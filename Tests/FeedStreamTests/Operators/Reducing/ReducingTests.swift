import FeedStream
import TestSupport
import Testing

@Suite("count, collect, reduce, min, max, contains, allSatisfy, first, last", .settled) struct ReducingTests {
  let time = MarbleTime()

  private let numbers = (1...5).map { $0 }.publisher.eraseToAnyPublisher()

  private func result<P: Publisher>(_ publisher: P) -> [P.Output] { publisher.record(on: time).values }

  @Test func `each delivers its one result`() {
    #expect(result(numbers.count()) == [5])
    #expect(result(numbers.collect()) == [[1, 2, 3, 4, 5]])
    #expect(result(numbers.reduce(10, +)) == [25])
    #expect(result(numbers.tryReduce(10, +)) == [25])
    #expect(result(numbers.min()) == [1])
    #expect(result(numbers.max()) == [5])
    #expect(result(numbers.min { $0 % 3 < $1 % 3 }) == [3])
    #expect(result(numbers.tryMax { $0 % 3 < $1 % 3 }) == [2])
    #expect(result(numbers.contains(3)) == [true])
    #expect(result(numbers.contains { $0 > 5 }) == [false])
    #expect(result(numbers.tryContains { $0 > 4 }) == [true])
    #expect(result(numbers.allSatisfy { $0 < 3 }) == [false])
    #expect(result(numbers.tryAllSatisfy { $0 < 6 }) == [true])
    #expect(result(numbers.first()) == [1])
    #expect(result(numbers.first { $0 > 2 }) == [3])
    #expect(result(numbers.tryFirst { $0 > 5 }) == [])
    #expect(result(numbers.last()) == [5])
    #expect(result(numbers.last { $0 < 4 }) == [3])
    #expect(result(numbers.tryLast { $0 < 4 }) == [3])
  }

  @Test func `a result waits until it is asked for`() {
    let recorder = numbers.count().record(on: time, asking: .none)
    #expect(recorder.marbles == "")
    recorder.request(.max(1))
    #expect(recorder.marbles == "(5|)")
  }

  @Test func `a settled result cancels upstream before it is delivered`() {
    var log: [String] = []
    let subject = PassthroughSubject<Int, Boom>()
    let recorder = subject.handleEvents(receiveCancel: { log.append("cancelled") }).first().record(on: time)
    recorder.onValue = { log.append("delivered \($0)") }
    subject.send(1)
    subject.send(2)
    #expect(log == ["cancelled", "delivered 1"])
    #expect(recorder.completion == .finished)
  }

  @Test func `a result that is waiting is let go when cancelled`() {
    let recorder = numbers.count().record(on: time, asking: .none)
    recorder.cancel()
    recorder.request(.max(1))
    #expect(recorder.marbles == "")
  }

  @Test func `a subscriber that cancels upon the result is not told of the ending`() {
    let subject = PassthroughSubject<Int, Boom>()
    let recorder = subject.count().record(on: time)
    recorder.onValue = { _ in recorder.cancel() }
    subject.send(completion: .finished)
    #expect(recorder.marbles == "0")
  }

  @Test func `a failure passes without a result`() {
    let recorder = time.cold("ab#").count().record(on: time)
    time.advance(by: 3)
    #expect(recorder.marbles == "--#")
  }

  @Test func `an error thrown cancels upstream and is the failure`() {
    var isCancelled = false
    let subject = PassthroughSubject<Int, Boom>()
    let recorder = subject.handleEvents(receiveCancel: { isCancelled = true })
      .tryReduce(0) { _, _ in throw Boom() }.record(on: time)
    subject.send(1)
    #expect(isCancelled)
    #expect(recorder.error is Boom)
  }

  @Test func `collect by count asks for as many values as the arrays hold`() {
    let recorder = (1...7).map { $0 }.publisher.eraseToAnyPublisher().collect(3).record(on: time, asking: .max(2))
    #expect(recorder.values == [[1, 2, 3], [4, 5, 6]])
    recorder.request(.max(1))
    #expect(recorder.values == [[1, 2, 3], [4, 5, 6], [7]])
    #expect(recorder.completion == .finished)
  }

  @Test func `collecting arrays of nothing traps`() async {
    await #expect(processExitsWith: .failure) { _ = [1].publisher.collect(0) }
  }
}
