import Foundation
import TestSupport
import Testing

@testable import FeedHTTP
@testable import HTTPTestSupport

/// The proxies that the environment sets, as curl documents them.
@Suite(.settled) struct ProxyVariablesTests {
  private func proxy(_ url: String, _ variables: [String: String]) -> String {
    ProxyVariables { variables[$0] }.address(for: URL(string: url)!)
  }

  @Test func `the URL's scheme chooses the variable, and an empty one counts as unset`() {
    let all = ["http_proxy": "a", "https_proxy": "b", "all_proxy": "c"]
    #expect(proxy("http://x.org", all) == "a" && proxy("HTTPS://x.org", all) == "b")
    #expect(proxy("http://x.org", ["https_proxy": "b"]) == "" && proxy("https://x.org", ["http_proxy": "a"]) == "")
    #expect(proxy("http://x.org", ["http_proxy": "", "all_proxy": "c"]) == "c")
    #expect(proxy("https://x.org", ["https_proxy": "", "HTTPS_PROXY": "", "all_proxy": ""]) == "")
    #expect(proxy("https://x.org", ["HTTPS_PROXY": "b", "ALL_PROXY": "c"]) == "b")
    #expect(proxy("http://x.org", ["HTTP_PROXY": "a"]) == "" && proxy("http://x.org", ["ALL_PROXY": "c"]) == "c")
  }

  @Test(arguments: [
    ("x.org", "x.org", true), ("x.org", "a.X.org.", true), (".x.org", "x.org", true), ("x.org", "ax.org", false),
    ("y.org, x.org.", "x.org", true), ("y.org x.org", "x.org", true), ("*", "x.org", true), ("*,y.org", "x.org", false),
    ("", "x.org", false), (".", "x.org", false),
    ("10.0.0.0/8", "10.1.2.3", true), ("10.0.0.0/8", "11.1.2.3", false), ("10.1.2.3", "10.1.2.3", true),
    ("10.1.2", "10.1.2.3", false), ("2.3", "10.1.2.3", false), ("0.0.0.0/0", "10.1.2.3", true),
    ("10.0.0.0/33", "10.0.0.0", false), ("10.0.0.0/", "10.0.0.0", true), ("10.0.0.0/8", "10.example.org", false),
    ("fe80::/10", "[fe80::1]", true), ("fe80::/10", "[fd00::1]", false), ("::1", "[::1]", true),
    ("2001:db8::/96", "[2001:db8::1]", true), ("2001:db8::/96", "[2001:db8::1:0:1]", false),
    ("::/0", "10.0.0.1", false),
  ]) func `no_proxy names hosts with their subdomains, and networks`(list: String, host: String, isDirect: Bool) {
    for name in ["no_proxy", "NO_PROXY"] {
      #expect(proxy("http://\(host)/", ["http_proxy": "a", name: list]) == (isDirect ? "" : "a"))
    }
  }

  @Test(
    .timeLimit(.minutes(5)),
    arguments: [
      ("http_proxy", "", ""), ("https_proxy", "http://127.0.0.1:9", ""),
      ("http_proxy", "http://127.0.0.1:9", "127.0.0.0/8"), ("http_proxy", "http://127.0.0.1:9", "127.0.0.1,127.0.0.2"),
    ])
  func `a private address is refused if no proxy makes the connection`(
    name: String, proxy: String, direct: String
  ) async {
    await #expect(processExitsWith: .success) { [name, proxy, direct] in
      for other in ["http_proxy", "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"] { unsetenv(other) }
      setenv(name, proxy, 1)
      setenv("no_proxy", direct, 1)
      let inside = RawOrigin.answering(at: "127.0.0.2") { _ in RawOrigin.answer() }
      let target = inside.url().absoluteString
      let web = RawOrigin.answering { _ in RawOrigin.answer("302 Found", ["Location: \(target)"]) }
      let bench = HTTPBench {
        $0.publicAddresses = ["127.0.0.1"]
        $0.usesProxies = true
      }
      exit(bench.run(web.url()).error?.kind == .privateNetwork && inside.accepted == 0 ? 0 : 1)
    }
  }
}
