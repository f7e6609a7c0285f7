import CIO
import FeedHTTPServer
import FeedStream
import Harness

/// HTTP responses of groups of one loop and of two. The client is one thread that shares the processors with the loops.
/// So the CPU time of a response, without the client's, shows what the loops could do with their own processors.
func serving(_ isShort: Bool, rounds: Int) throws {
  struct Figures {
    var perSecond: [Double] = []
    var processor: [Double] = []
  }
  let requests = isShort ? 20_000 : 200_000
  var figures: [Figures] = [Figures(), Figures()]
  for round in 0..<rounds {
    for loops in round % 2 == 0 ? [1, 2] : [2, 1] {
      let group = try EventLoopGroup(count: loops, name: "serving")
      let page = Chunk(String(cString: c_http_page()))
      let servers = try HTTPServerGroup(at: .internet("127.0.0.1", port: 0), on: group) { server in
        server.serve { _ in .init(headers: ["Content-Type": "text/html"], body: page) }
      }
      let port = Int32(servers.address.port ?? 0)
      _ = c_http_client(port, 64, 2_000)
      let (all, mine) = (Clock.processor.now, Clock.thread.now)
      let seconds = Clock.wall.time { _ = c_http_client(port, 64, requests) }.nanoseconds / 1e9
      let used = Clock.processor.now - all - (Clock.thread.now - mine)
      figures[loops - 1].perSecond.append(Double(requests) / seconds)
      figures[loops - 1].processor.append(used / Double(requests))
      servers.close()
      group.shutdown()
    }
  }
  show("\n| HTTP, small responses, 64 connections | one loop | two loops | ratio |\n|---|---|---|---|")
  show(
    "| responses per second, the client on the same processors | \(number(figures[0].perSecond.median)) "
      + "| \(number(figures[1].perSecond.median)) | \(number(ratio(figures[1].perSecond, to: figures[0].perSecond)))× |"
  )
  let each = ratio(figures[1].processor, to: figures[0].processor)
  show(
    "| processor time of the loops per response, ns | \(number(figures[0].processor.median)) "
      + "| \(number(figures[1].processor.median)) | \(number(each))× |")
  show("| so, with a processor for each loop and the client elsewhere | 1× | \(number(2 / each))× | |")
}
