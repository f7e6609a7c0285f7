/// The declarations that snippets use but don't show, by file.
///
/// All of them know `loop`, `time`, `url`, `connection`, `server`, `client`, `cache` and `addresses`.
let contexts: [String: String] = [
  "Future+Async.swift": """
  func download(_ url: URL, _ done: @escaping @Sendable (Result<Data, any Error>) -> Void) {}
  struct Model: Sendable { func answer(to question: String) async -> String { question } }
  struct Session: Sendable { func page(at url: URL) async throws -> String { "" } }
  struct Refusal: Error {}
  @Sendable func ask() async throws(Refusal) -> Int { 1 }
  let (model, session, question) = (Model(), Session(), "")
  """,
  "EventLoopGroup.swift": """
  let images = ["a"].publisher
  @Sendable func thumbnail(of image: String) -> String { image }
  func show(_ image: String) {}
  """,
  "Parallel.swift": """
  let group = try EventLoopGroup()
  struct Image: Sendable { var isLarge: Bool { size > 9 }; let size: Int }
  let images = [[UInt8]]().publisher
  @Sendable func decode(_ bytes: [UInt8]) throws -> Image { Image(size: bytes.count) }
  """,
  "Chat.md": "let routes = HTTPRoutes()",
  "WebSocket.swift": "let socket: WebSocket! = nil",
  "WriteMessages.swift": """
  let socket: WebSocket! = nil
  let ticks = (1...3).publisher
  """,
  "WebSocketUpgrade.swift": "var routes = HTTPRoutes()",
  "DecodeJSONLines.swift": "struct Event: Decodable {}",
  "ChunkDecoder.swift": "struct TornRecord: Error {}",
  "MergeByArity.swift": "let (cached, remote, pushed) = (Just(1), Just(2), Just(3))",
  "ZipAll.swift": #"let (image, title, author) = (Just(1), Just("Gulls"), Just("Ann"))"#,
  "Create.swift": """
  class Device { func listen(_ heard: @escaping (Event) -> Void) -> PollHandle { fatalError() } }
  struct Event {}
  let device = Device()
  let emitter: Create<String, Never>.Emitter! = nil
  """,
  "SerialWorker.swift": """
  struct StoreError: Error {}
  struct Store: Sendable { func read() throws(StoreError) -> Int { 1 } }
  let store = Store()
  """,
  "ReadMode.swift": "let loader: FeedLoader! = nil",
  "OPML.swift": "let bytes: [UInt8] = []",
  "ImageDecoder.swift": "let bytes = Chunk()",
  "PollTrace.swift": """
  var options = FleetWorker.Options()
  struct Span {
    let parent = ""
    func end(_ report: FleetWorker.Report?) {}
  }
  func begin(_ lease: WorkLease) -> Span { Span() }
  """,
  "FleetWorker.swift": "let address: RedisAddress! = nil",
  "WhichOperator.md": #"""
  let (source, openings) = (time.hot("a"), time.hot("a"))
  let closing = { (_: String) in time.cold("a") }
  """#,
  "FeedParser.swift": "let chunks: [[UInt8]] = []",
  "MarbleDiagram.swift": #"""
  let marbles = try Marbles("a-b|")
  let typing = time.hot("a-b|")
  let file = url
  """#,
  "ExpectMarbles.swift": #"let recorder = time.hot("a").record(on: time)"#,
  "ExpectStreams.swift": #"let windows = time.hot("a").window(2).recordStreams(on: time)"#,
  "ExpectSubscriptions.swift": #"let (source, unused) = (time.hot("a"), time.hot("a"))"#,
  "Recorder+Audit.swift": #"let ticks = time.hot("a")"#,
  "Recorder.swift": """
  let subject = PassthroughSubject<Int, Never>()
  let recorder = subject.record(on: time)
  """,
  "StreamRecording.swift": #"let source = time.hot("a")"#,
  "Due.swift": """
  func other(_ time: VirtualTimeScheduler) -> AnyPublisher<Int, MarbleFailure> { Empty().eraseToAnyPublisher() }
  """,
  "StreamRules.swift": "extension Publisher { func myOperator() -> Self { self } }",
  "ImmediateTimeScheduler.swift": #"let results = Just("a")"#,
  "UnimplementedScheduler.swift": "struct SearchModel { init(scheduler: any LoopScheduler) {} }",
  "StepVerifier.swift": """
  let search = PassthroughSubject<String, Never>()
  let results = search
  """,
  "FeedFormat.swift": """
  struct CompanyFormat: FeedFormat {
    func recognizes(_ document: WebDocument) -> Bool { true }
    func images(of document: WebDocument, within limits: FeedLimits) throws(InvalidData) -> FeedImages { fatalError() }
  }
  var options = FeedLoader.Options()
  """,
  "VirtualNetwork.swift": "let images: [FeedImage] = []",
  "StaticFiles.swift": "var routes = HTTPRoutes()",
  "EventLog.swift": """
  let changes = PassthroughSubject<String, Never>()
  var routes = HTTPRoutes()
  """,
  "HTTPRoutes.swift": #"""
  let page = "<!doctype html>"
  struct NotFound: Error {}
  func isValid(_ token: String) -> String? { nil }
  """#,
  "SharedValue.swift": """
  let address = SocketAddress.internet("127.0.0.1", port: 0)
  let group = try EventLoopGroup()
  """,
  "EventChannel.swift": """
  let address = SocketAddress.internet("127.0.0.1", port: 0)
  let group = try EventLoopGroup()
  """,
  "HTTPHandler.swift": """
  let isClosed = false
  var routes = HTTPRoutes()
  """,
  "JSONResponse.swift": """
  let todos = [1]
  var routes = HTTPRoutes()
  """,
  "RequestDecoding.swift": """
  struct NewTodo: Codable {}
  func add(_ todo: NewTodo) -> NewTodo { todo }
  let id = 1
  var routes = HTTPRoutes()
  """,
  "RequestLog.swift": "var routes = HTTPRoutes()",
  "HTTPClient+Sending.swift": "struct Todo: Decodable {}",
  "NewImagesFinder.swift": """
  let finder: NewImagesFinder! = nil
  let feeds: ManyFeeds! = nil
  func show(_ new: NewImages, _ shown: () -> Void) {}
  """,
]
