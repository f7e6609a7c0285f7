import FeedStream
import FeedStreamTesting
import TestSupport
import Testing

@Suite(.settled) struct ZipUnfailingTests {
  private let sure = Just(1)
  private let failing = Just(2).setFailureType(to: Boom.self)

  @Test func `zip of a publisher that can fail takes others that can't`() {
    let sums: [AnyPublisher<Int, Boom>] = [
      failing.zip(sure).map { $0 + $1 }.eraseToAnyPublisher(),
      failing.zip(sure) { $0 + $1 }.eraseToAnyPublisher(),
      failing.zip(sure, Just(0)).map { $0 + $1 + $2 }.eraseToAnyPublisher(),
      failing.zip(sure, Just(0)) { $0 + $1 + $2 }.eraseToAnyPublisher(),
      failing.zip(sure, Just(0), [0].publisher).map { $0 + $1 + $2 + $3 }.eraseToAnyPublisher(),
      failing.zip(sure, Just(0), [0].publisher) { $0 + $1 + $2 + $3 }.eraseToAnyPublisher(),
    ]
    for sum in sums { sum.record().expect("(3|)") }
    #expect(Fail<Int, Boom>(error: Boom()).zip(sure).record().failure == Boom())
  }

  @Test func `zip of a publisher that can't fail takes others that can`() {
    let none = Just(0).setFailureType(to: Boom.self)
    let sums: [AnyPublisher<Int, Boom>] = [
      sure.zip(failing).map { $0 + $1 }.eraseToAnyPublisher(),
      sure.zip(failing) { $0 + $1 }.eraseToAnyPublisher(),
      sure.zip(failing, none).map { $0 + $1 + $2 }.eraseToAnyPublisher(),
      sure.zip(failing, none) { $0 + $1 + $2 }.eraseToAnyPublisher(),
      sure.zip(failing, none, none).map { $0 + $1 + $2 + $3 }.eraseToAnyPublisher(),
      sure.zip(failing, none, none) { $0 + $1 + $2 + $3 }.eraseToAnyPublisher(),
    ]
    for sum in sums { sum.record().expect("(3|)") }
    #expect(sure.zip(Fail<Int, Boom>(error: Boom())).record().failure == Boom())
  }

  @Test func `zip of publishers that can't fail can't fail`() {
    let sum: AnyPublisher<Int, Never> = sure.zip(Just(2)) { $0 + $1 }.eraseToAnyPublisher()
    sum.record().expect("(3|)")
  }
}
