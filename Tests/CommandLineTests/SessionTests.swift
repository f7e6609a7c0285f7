import FeedStream
import Testing

@testable import feed

@Suite(.settled) struct SessionTests {
  @Test func `what a session follows is let go when it is done, so that a watch of years does not grow`() throws {
    let session = Session(verbose: false)
    var heard: [Int] = []
    for number in 0..<100 { session.follow(Just(number).receive(on: session.loop)) { heard.append($0) } }
    #expect(session.followedCount == 100)
    session.follow(Just(100)) { heard.append($0) }
    #expect(session.followedCount == 100)
    // Nothing is left that would keep the loop running.
    try session.finish()
    #expect(heard.sorted() == Array(0...100))
    #expect(session.followedCount == 0)
  }
}
