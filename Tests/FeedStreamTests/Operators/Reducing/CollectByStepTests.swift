import FeedStream
import FeedStreamTesting
import TestSupport
import Testing

@Suite(.settled) struct CollectByStepTests {
  private func numbers(_ count: Int) -> AnyPublisher<Int, Never> { Array(1...count).publisher.eraseToAnyPublisher() }

  @Test func `collect(_:every:) overlaps arrays if the step is less than the count`() {
    #expect(numbers(5).collect(3, every: 2).record().values == [[1, 2, 3], [3, 4, 5], [5]])
    #expect(numbers(3).collect(3, every: 1).record().values == [[1, 2, 3], [2, 3], [3]])
  }

  @Test func `collect(_:every:) drops values between arrays if the step is more than the count`() {
    #expect(numbers(7).collect(2, every: 3).record().values == [[1, 2], [4, 5], [7]])
    #expect(numbers(6).collect(2, every: 3).record().values == [[1, 2], [4, 5]])
  }

  @Test func `collect(_:every:) equals collect(_:) if the step equals the count`() {
    #expect(numbers(5).collect(2, every: 2).record().values == numbers(5).collect(2).record().values)
  }

  @Test func `an array is delivered with its last value, and the rest on completion`() {
    withVirtualTime { time in
      let arrays = time.hot("-a--b-c-|").collect(2, every: 1).map { $0.joined() }
      expectMarbles(arrays, on: time, "----x-y-(z|)", values: ["x": "ab", "y": "bc", "z": "c"])
    }
  }

  @Test(arguments: [(3, 2), (2, 3)]) func `the first array requests its count of values, and each later one its step`(
    _ count: Int, _ step: Int
  ) {
    var asked: [Subscribers.Demand] = []
    let source = PassthroughSubject<Int, Never>()
    let recorder = source.handleEvents(receiveRequest: { asked.append($0) }).collect(count, every: step)
      .record(demand: .max(2))
    recorder.request(.max(1))
    #expect(asked == [.max(count + step), .max(step)])
    recorder.request(.unlimited)
    #expect(asked.last == .unlimited)
    recorder.cancel()
  }

  @Test func `values left on completion wait until they are requested`() {
    let recorder = numbers(3).collect(3, every: 1).record(demand: .max(1))
    #expect(recorder.values == [[1, 2, 3]])
    #expect(recorder.completion == nil)
    recorder.request(.max(1))
    #expect(recorder.values == [[1, 2, 3], [2, 3]])
    recorder.request(.max(1))
    #expect(recorder.values == [[1, 2, 3], [2, 3], [3]])
    #expect(recorder.completion == .finished)
  }

  @Test func `collect(_:every:) with a count or step of zero traps`() async {
    await #expect(processExitsWith: .failure) { _ = [1].publisher.collect(0, every: 1) }
    await #expect(processExitsWith: .failure) { _ = [1].publisher.collect(1, every: 0) }
  }

  @Test func `requested full arrays are delivered before a failure during a delivery`() {
    for (demand, expected) in [(DemandScript.unlimited, [[1, 2], [2, 3], [3, 4]]), (.max(2), [[1, 2], [2, 3]])] {
      let failing = PassthroughSubject<Int, Boom>()
      let arrays = failing.collect(2, every: 1).record(demand: demand)
      arrays.onValue = { array in
        guard array == [1, 2] else { return }
        for number in [3, 4] { failing.send(number) }
        failing.send(completion: .failure(Boom()))
      }
      for number in [1, 2] { failing.send(number) }
      #expect(arrays.values == expected)
      #expect(arrays.failure == Boom())
    }
  }
}
