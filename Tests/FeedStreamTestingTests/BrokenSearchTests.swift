import TestSupport
import Testing

/// Runs the tests of `Examples/TestingASearch` in their own process, with the broken search.
@Suite(.settled) struct BrokenSearchTests {
  #if os(Linux)
    @Test func `a broken search fails four tests, with messages that explain the errors`() throws {
      let (status, output) = try runSearchTests(["SEARCH": "broken"])
      #expect(status != 0)
      for message in messages { #expect(output.contains(message), "\(output)") }
      #expect(output.contains("with 4 tests in 1 suite failed"))
    }

    @Test func `a correct search passes the four tests`() throws {
      let (status, output) = try runSearchTests(["SEARCH": ""])
      #expect(status == 0)
      #expect(output.contains("with 4 tests in 1 suite passed"), "\(output)")
    }

    private func runSearchTests(_ variables: [String: String]) throws -> (status: Int32, output: String) {
      try runTests(["--testing-library", "swift-testing", "--filter", "^TestingASearchTests\\."], variables)
    }
  #endif

  private let messages = [
    // Marbles.
    """
    The stream differs from the diagram at 800ms:
                0s 800ms 2.4s
      expected  ---A-----|
      actual    ---(SA)--|
                   ^
      S is answer to s
      A is answer to sea
      To paste: "800ms (SA) 1.6s |"
    """,
    // The step verifier.
    "Step 4 of 6: expected the value ‹answer to sea›, but at 800ms there was ‹answer to s›.",
    // The recorder.
    "the text field is released: [subscribed at 0s, requested unlimited at 0s, received 2]",
    // The test kit.
    """
    searchResults breaks rule 6, cancelling is final: upstream continued after the subscriber had cancelled.
      The shortest failing script: a scheduled source, 1 value, then it finishes; demand: unlimited; \
    cancelled on subscription.
      received  nothing
      downstream: requested unlimited, received 0
      upstream:   subscribed at 0s, requested unlimited at 0s, received 1, ended at 2ms
    """,
  ]
}
