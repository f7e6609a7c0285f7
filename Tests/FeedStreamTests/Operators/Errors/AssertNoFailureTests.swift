import FeedStream
import TestSupport
import Testing

@Suite(.settled) struct AssertNoFailureTests {
  @Test func `assertNoFailure traps with the error and a hint`() async {
    await #expect(processExitsWith: .failure) {
      _ = Fail<Int, Boom>(error: Boom()).assertNoFailure("here").sink { _ in }
    }
  }
}
