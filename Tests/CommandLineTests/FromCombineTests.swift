import TestSupport
import Testing

/// Programs written for Combine, of which only the import was changed.
@Suite(.settled) struct FromCombineTests {
  @Test(
    arguments: [
      (
        "CombineSearchField",
        """
        ligh: Lighthouse at dusk, Light rain, Harbour lights
        light: Lighthouse at dusk, Light rain, Harbour lights
        harbour: Old harbour, Harbour lights

        """
      ),
      (
        "CombineCountdown",
        """
        3
        2
        1
        Lift-off

        """
      ),
      (
        "CombineTwoLoads",
        """
        Ada: Lighthouse, Harbour
        Could not load the page

        """
      ),
    ])
  func `a program written for Combine behaves the same here`(_ example: String, _ expected: String) async throws {
    let ending = try await RunningFeed(program: FeedBinary.path(of: example), []).ending()
    #expect(ending.output == expected)
    #expect(ending.errors == "")
    #expect(ending.status == 0)
  }
}
