import FeedStream
import FeedStreamTesting
import TestSupport
import Testing

@Suite(.settled) struct MergeUnfailingTests {
  private let sure = Just(1)
  private let failing = Just(2).setFailureType(to: Boom.self).append(Fail(error: Boom()))

  @Test func `merge of a publisher that can fail takes others that can't`() {
    let merges: [AnyPublisher<Int, Boom>] = [
      failing.merge(with: sure).eraseToAnyPublisher(),
      failing.merge(with: sure, sure).eraseToAnyPublisher(),
      failing.merge(with: sure, sure, sure).eraseToAnyPublisher(),
      failing.merge(with: sure, sure, sure, sure).eraseToAnyPublisher(),
      failing.merge(with: sure, sure, sure, sure, sure).eraseToAnyPublisher(),
      failing.merge(with: sure, sure, sure, sure, sure, sure).eraseToAnyPublisher(),
      failing.merge(with: sure, sure, sure, sure, sure, sure, sure).eraseToAnyPublisher(),
    ]
    for merged in merges { #expect(merged.record().failure == Boom()) }
    // One value of each publisher is held until it is requested.
    let recorder = failing.merge(with: sure).merge(with: sure).record(demand: .max(1))
    #expect(recorder.values == [2])
    #expect(recorder.failure == Boom())
  }

  @Test func `merge of a publisher that can't fail takes others that can`() {
    let merges: [AnyPublisher<Int, Boom>] = [
      sure.merge(with: failing).eraseToAnyPublisher(),
      sure.merge(with: failing, failing).eraseToAnyPublisher(),
      sure.merge(with: failing, failing, failing).eraseToAnyPublisher(),
      sure.merge(with: failing, failing, failing, failing).eraseToAnyPublisher(),
      sure.merge(with: failing, failing, failing, failing, failing).eraseToAnyPublisher(),
      sure.merge(with: failing, failing, failing, failing, failing, failing).eraseToAnyPublisher(),
      sure.merge(with: failing, failing, failing, failing, failing, failing, failing).eraseToAnyPublisher(),
    ]
    for merged in merges {
      let recorder = merged.record()
      #expect(recorder.values == [1, 2])
      #expect(recorder.failure == Boom())
    }
  }

  @Test func `merge of publishers that can't fail can't fail`() {
    let merged: AnyPublisher<Int, Never> = sure.merge(with: [2].publisher, Empty()).eraseToAnyPublisher()
    #expect(merged.record().values == [1, 2])
  }
}
