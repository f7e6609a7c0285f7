import FeedStream
import Foundation
import TestSupport
import Testing

@Suite(.settled) struct ValuesTests {
  @Test func `each call of next requests one value`() async {
    let asked = Journal<Int?>()
    let values = [1, 2, 3].publisher.handleEvents(receiveRequest: { asked.note($0.max) }).values
    var iterator = values.makeAsyncIterator()
    #expect(asked.entries.isEmpty)
    #expect(await iterator.next() == 1)
    #expect(asked.entries == [1])
    #expect(await iterator.next() == 2)
    #expect(await iterator.next() == 3)
    #expect(await iterator.next() == nil)
    #expect(asked.entries == [1, 1, 1])
  }

  @Test func `values throws a failure once, after the values before it`() async throws {
    var iterator = Record<Int, Boom>(output: [1], completion: .failure(Boom())).values.makeAsyncIterator()
    #expect(try await iterator.next() == 1)
    await #expect(throws: Boom.self) { try await iterator.next() }
    #expect(try await iterator.next() == nil)
  }

  @Test func `leaving the loop over values early cancels the subscription`() async {
    let cancelled = Journal<String>()
    let publisher = Generate(state: 0) { state -> Int? in
      state += 1
      return state
    }
    .handleEvents(receiveCancel: { cancelled.note("cancelled") })
    for await value in publisher.values where value == 3 { break }
    #expect(cancelled.entries == ["cancelled"])
  }

  @Test func `values made on a loop are consumed on any thread, and touch the stream on its loop only`() async throws {
    let thread = try EventLoopThread()
    defer { thread.shutdown() }
    let loop = thread.loop
    let offLoop = Journal<String>()
    let values = await withCheckedContinuation { continuation in
      loop.execute {
        let publisher = (1...3).publisher.handleEvents(
          receiveSubscription: { _ in if !loop.isCurrent { offLoop.note("subscription") } },
          receiveOutput: { _ in if !loop.isCurrent { offLoop.note("value") } },
          receiveRequest: { _ in if !loop.isCurrent { offLoop.note("request") } })
        continuation.resume(returning: publisher.values)
      }
    }
    var received: [Int] = []
    for await value in values { received.append(value) }
    #expect(received == [1, 2, 3])
    #expect(offLoop.entries.isEmpty)
  }

  /// Runs in its own process, because other tests would keep the task's thread busy.
  @Test func `a loop without work waits for a task that is about to iterate its values`() async {
    await #expect(processExitsWith: .success) {
      let received = Journal<Int>()
      await withUnsafeContinuation { (done: UnsafeContinuation<Void, Never>) in
        Thread.detachNewThread {
          let loop = EventLoop()
          let values = [1, 2].publisher.values
          let turns = Journal<String>()
          let task = Task {
            while turns.entries.isEmpty { await Task.yield() }
            for await value in values { received.note(value) }
          }
          loop.schedule { turns.note("the last") }
          loop.run()
          task.cancel()
          loop.close()
          Task {
            await task.value
            done.resume()
          }
        }
      }
      precondition(received.entries == [1, 2], "\(received.entries)")
    }
  }

  @Test func `cancelling the waiting task cancels the subscription on the loop`() async throws {
    let thread = try EventLoopThread()
    defer { thread.shutdown() }
    let loop = thread.loop
    let cancelled = Journal<Bool>()
    let (waiting, isWaiting) = AsyncStream<Void>.makeStream()
    let values = Empty<Int, Never>(completeImmediately: false)
      .handleEvents(receiveCancel: { cancelled.note(loop.isCurrent) }, receiveRequest: { _ in isWaiting.yield() })
      .values(on: loop)
    let task = Task {
      for await _ in values {}
    }
    for await _ in waiting { break }
    task.cancel()
    await task.value
    await withCheckedContinuation { continuation in loop.execute { continuation.resume() } }
    #expect(cancelled.entries == [true])
  }

  @Test func `an actor whose executor is the loop iterates values on that loop`() async throws {
    actor Reader {
      let loop: EventLoop
      nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }
      private let subject = CurrentValueSubject<Int, Never>(1)
      init(_ loop: EventLoop) { self.loop = loop }

      func first() async -> Int? {
        for await value in subject.values { return value }
        return nil
      }
    }
    let thread = try EventLoopThread()
    defer { thread.shutdown() }
    #expect(await Reader(thread.loop).first() == 1)
  }
}

@Suite(.settled) struct AsyncElementsTests {
  @Test func `an element of a sequence is awaited only when a value is requested`() async {
    let (elements, continuation) = AsyncStream<Int>.makeStream()
    for value in 1...3 { continuation.yield(value) }
    continuation.finish()
    var received: [Int] = []
    for await value in elements.publisher.prefix(2).values { received.append(value) }
    #expect(received == [1, 2])
  }

  @Test func `an error thrown by the sequence is the failure`() async throws {
    let failing = AsyncThrowingStream<Int, any Error> { continuation in
      continuation.yield(1)
      continuation.finish(throwing: Boom())
    }
    var iterator = failing.publisher.values.makeAsyncIterator()
    #expect(try await iterator.next() == 1)
    await #expect(throws: Boom.self) { try await iterator.next() }
  }
}

@Suite(.settled) struct MapAsyncTests {
  @Test func `mapAsync delivers results in the order of the values`() async throws {
    let thread = try EventLoopThread()
    defer { thread.shutdown() }
    let (gate, opening) = AsyncStream<Void>.makeStream()
    let values = [1, 2].publisher.mapAsync(limit: 2) { value in
      if value == 1 { for await _ in gate { break } } else { opening.yield() }
      return value * 10
    }
    .values(on: thread.loop)
    var received: [Int] = []
    for await value in values { received.append(value) }
    #expect(received == [10, 20])
  }

  @Test func `unordered mapAsync delivers results as they are ready`() async throws {
    let thread = try EventLoopThread()
    defer { thread.shutdown() }
    let (gate, opening) = AsyncStream<Void>.makeStream()
    let values = [1, 2].publisher.mapAsync(limit: 2, order: .asCompleted) { value in
      if value == 1 { for await _ in gate { break } }
      return value * 10
    }
    .values(on: thread.loop)
    var received: [Int] = []
    for await value in values {
      received.append(value)
      opening.yield()
    }
    #expect(received == [20, 10])
  }

  @Test func `mapAsync requests at most its limit from upstream until results are delivered`() async throws {
    let thread = try EventLoopThread()
    defer { thread.shutdown() }
    let asked = Journal<Int?>()
    let values = (1...4).publisher.handleEvents(receiveRequest: { asked.note($0.max) })
      .mapAsync(limit: 3) { $0 }
      .values(on: thread.loop)
    var received: [Int] = []
    for await value in values { received.append(value) }
    #expect(received == [1, 2, 3, 4])
    #expect(asked.entries.first == 3)
    #expect(asked.entries.dropFirst().allSatisfy { $0 == 1 })
  }

  @Test func `mapAsync fails at the place of the first thrown error`() async throws {
    let thread = try EventLoopThread()
    defer { thread.shutdown() }
    let values = [1, 2, 3].publisher.tryMapAsync(limit: 3) { value in
      if value == 2 { throw Boom() }
      return value
    }
    .values(on: thread.loop)
    var iterator = values.makeAsyncIterator()
    #expect(try await iterator.next() == 1)
    await #expect(throws: Boom.self) { try await iterator.next() }
  }
}
