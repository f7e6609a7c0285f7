import FeedStream
import FeedStreamTesting
import TestSupport
import Testing

@testable import FeedWebSocket

/// The cases of the Autobahn test suite, as data, against our server and our client.
@Suite(.settled) struct AutobahnCasesTests {
  @Test func `the list of Autobahn cases is complete, without duplicates`() {
    #expect(AutobahnCase.all.count > 240)
    #expect(Set(AutobahnCase.all.map(\.id)).count == AutobahnCase.all.count)
  }

  @Test(arguments: [true, false])
  func `each Autobahn case has its expected result, on both sides`(isServer: Bool) throws {
    for test in AutobahnCase.all {
      try withVirtualTime { time in
        let talk = try Talk(time, isServer: isServer)
        for step in test.steps {
          switch step {
          case .frame(let first, let payload): talk.send(talk.frame(first, payload), chop: test.chop)
          case .close(let code, let reason): talk.send(talk.close(code, reason))
          }
        }
        #expect(talk.words() == test.expected, "\(test.id), our side is the \(isServer ? "server" : "client")")
        // A server closes the connection first, and a client waits for that.
        #expect(talk.isEnded == isServer, "\(test.id)")
        talk.end()
      }
    }
  }

  @Test(arguments: [true, false])
  func `invalid UTF-8 is refused before its frame ends`(isServer: Bool) throws {
    try withVirtualTime { time in
      // 6.4.3 and 6.4.4: the frame's bytes arrive with pauses.
      let talk = try Talk(time, isServer: isServer)
      let frame = talk.frame(0x81, [0xCE, 0xBA, 0xF4, 0x90, 0x80, 0x80, 0x41, 0x42])
      talk.send(Array(frame.dropLast(5)))
      #expect(talk.words() == [])
      talk.send(Array(frame.dropLast(4).suffix(1)))
      #expect(talk.words() == ["close 1007"])
      talk.end()
    }
  }
}
