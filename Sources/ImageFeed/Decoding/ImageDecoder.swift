public import FeedStream
import Foundation
import PlainText

/// Decodes untrusted images in sandboxed processes.
///
///     let decoder = ImageDecoder(on: loop)
///     let decoding = decoder.decode(bytes, fitting: DecodedImage.Size(width: 320, height: 240))
///       .sink { print($0) } receiveValue: { print($0.size) }
///
/// If an image makes its process crash, or take too much time or memory, only that image fails, and a new process
/// replaces the old one. The processes (`image-decoder`, from this package) are started when there is work, decode one
/// image after another, and end when they are idle or the decoder is released. They can't access files or the network,
/// and may use 320 MiB of memory besides the 16 MiB that they share with their parent (seccomp and rlimits). They are not
/// trusted: a reply that does not match its request terminates the process.
///
/// While a process exists, `EventLoop.run()` doesn't return. After the last image, call ``close()``; otherwise, the
/// loop runs until the processes have been idle for ``Options/idle``.
///
/// JPEG and PNG images, and the first frames of GIF, WebP and AVIF images, are decoded and turned upright. Use the
/// decoder only on its scheduler's thread, like a stream.
public final class ImageDecoder {
  /// Options; each has a default.
  public struct Options: Sendable {
    /// The maximum number of processes. The number of processors by default.
    public var children = Swift.max(1, ProcessInfo.processInfo.activeProcessorCount)
    /// The time limit for one image in a process. 15 seconds by default. The limit on processor time is 5 seconds and
    /// cannot be changed.
    public var deadline: Duration = .seconds(15)
    /// The maximum number of images waiting for a process. 256 by default.
    public var waiting = 256
    /// The maximum number of encoded bytes of the waiting images. 64 MiB by default; a single waiting image may be
    /// larger.
    public var waitingBytes = 64 << 20
    /// The idle time after which a process is terminated. Ten seconds by default.
    public var idle: Duration = .seconds(10)
    /// The number of images after which a process is replaced. 1,000 by default; more than 1,400 have the same effect
    /// as 1,400.
    public var imagesPerChild = 1_000

    public init() {}
  }

  private let program: String?
  private let options: Options
  private let scheduler: any LoopScheduler
  private var waiting = FIFO<ImageDecodingJob>()
  /// The number of waiting images that were not cancelled; ``waitingBytes`` is their size.
  private var waitingCount = 0
  private var waitingBytes = 0
  private var children: [ImageDecoderProcess] = []
  private var isServing = false
  private var isClosed = false
  /// Receives the first ``ImageDecodingError/unavailable(_:)`` of the program, if it was found but can't be run.
  package var onUnavailable: ((ImageDecodingError) -> Void)?

  /// Creates a decoder; processes are started when needed.
  ///
  /// - Parameters:
  ///   - program: the path of `image-decoder`; ``findProgram()`` by default.
  ///   - options: limits.
  ///   - scheduler: an `EventLoop`, or virtual time in a test.
  /// - Precondition: `children`, `waiting`, and `imagesPerChild` are more than zero.
  public init(program: String? = nil, options: Options = Options(), on scheduler: any LoopScheduler) {
    precondition(
      options.children > 0 && options.waiting > 0 && options.imagesPerChild > 0,
      "ImageDecoder: no image could be decoded; children, waiting and imagesPerChild must each be 1 or more")
    self.program = program ?? Self.findProgram()
    self.options = options
    self.scheduler = scheduler
  }

  /// True if the decoding program was found; it may still fail to start.
  public var isAvailable: Bool { program != nil }

  /// The current number of processes.
  public var childCount: Int { children.count }

  /// The process ids.
  package var childNumbers: [Int32] { children.map(\.number) }

  /// The image, scaled down (never up) to fit into `size`, with its proportions kept.
  ///
  /// **Demand:** begins when the image is requested. **Failure:** ``ImageDecodingError``. **Cancellation:** drops a
  /// waiting image, and the result of an image that is being decoded. **Policy:** an image for which there is no room
  /// in the queue fails with ``ImageDecodingError/busy``. To prevent this, limit the number of requests, for example
  /// with `flatMap(maxPublishers:)`.
  ///
  /// - Parameters:
  ///   - bytes: the encoded image, at most 32 MiB, 40 megapixels and 16,384 pixels per side.
  ///   - size: the maximum size; any by default. A side of 0 means no limit.
  ///   - form: the form of the result; pixels by default.
  public func decode(
    _ bytes: Chunk, fitting size: DecodedImage.Size? = nil, as form: DecodedImage.Form = .pixels
  ) -> AnyPublisher<DecodedImage, ImageDecodingError> {
    let request = ImageDecodingRequest(
      bytes: bytes, width: side(size?.width), height: side(size?.height), form: form)
    return Create<DecodedImage, ImageDecodingError>(size: 1) { [self] emitter in
      var isAsked = false
      let job = ImageDecodingJob(request) { result in
        switch result {
        case .success(let image):
          emitter.send(image)
          emitter.send(completion: .finished)
        case .failure(let error): emitter.send(completion: .failure(error))
        }
      }
      emitter.onRequest { [self] _ in
        guard !isAsked else { return }
        isAsked = true
        add(job)
      }
      emitter.onCancel { [self] in if isAsked { leave(job) } }
    }
    .eraseToAnyPublisher()
  }

  /// The image, decoded from its data.
  public func decode(
    _ data: ImageData, fitting size: DecodedImage.Size? = nil, as form: DecodedImage.Form = .pixels
  ) -> AnyPublisher<DecodedImage, ImageDecodingError> {
    decode(Chunk(data.bytes), fitting: size, as: form)
  }

  /// Ends the processes, for which the loop would wait. All images that are not ready, and all later ones, fail with ``ImageDecodingError/closed``.
  public func close() {
    guard !isClosed else { return }
    isClosed = true
    for child in children { child.lose(.closed) }
    while let job = waiting.popFirst() { job.end(.failure(.closed)) }
    (waitingCount, waitingBytes) = (0, 0)
  }

  private func side(_ length: Int?) -> Int {
    guard let length else { return 0 }
    precondition(length >= 0, "ImageDecoder.decode(fitting:): a side is \(length); use 0 or more")
    return Swift.min(length, Int(UInt16.max))
  }

  // MARK: Waiting

  private func add(_ job: ImageDecodingJob) {
    guard let request = job.request else { return }
    let bytes = request.bytes.count
    if isClosed { return job.end(.failure(.closed)) }
    if program == nil {
      return job.end(.failure(.unavailable("image-decoder isn't installed next to this program.")))
    }
    if bytes > ImageDecodingRequest.mostBytes {
      return job.end(
        .failure(.tooLarge("The image file is larger than the limit of \(ImageDecodingRequest.mostBytes.byteSize).")))
    }
    let hasRoom = waitingCount < options.waiting && waitingBytes + bytes <= options.waitingBytes
    guard hasRoom || waitingCount == 0 else { return job.end(.failure(.busy)) }
    waiting.append(job)
    waitingCount += 1
    waitingBytes += bytes
    serve()
  }

  /// Cancels the request. A process that is decoding the image continues, because starting another would take longer.
  private func leave(_ job: ImageDecodingJob) {
    if !job.isRunning, let request = job.request {
      waitingCount -= 1
      waitingBytes -= request.bytes.count
    }
    job.end(nil)
  }

  // MARK: Children

  /// Sends waiting images to free or new processes.
  private func serve() {
    // A subscriber that receives an error may request another image, which calls this again.
    guard !isServing else { return }
    isServing = true
    defer { isServing = false }
    while waitingCount > 0, let program {
      // Always choose the last free process, so that the others stay idle and end.
      var child = children.last { $0.isFree }
      guard child != nil || children.count < options.children else { return }
      guard let job = waiting.popFirst() else { return }
      guard let request = job.request else { continue }
      waitingCount -= 1
      waitingBytes -= request.bytes.count
      do throws(SystemError) {
        if child == nil { child = try start(program) }
        child?.decode(job, request)
      } catch {
        let error = ImageDecodingError.unavailable("\(error)")
        reportOnce(error)
        job.end(.failure(error))
      }
    }
  }

  private func start(_ program: String) throws(SystemError) -> ImageDecoderProcess {
    let child = try ImageDecoderProcess(program, options, on: scheduler) { [weak self] child, event, job, result in
      self?.note(event, of: child)
      if case .failure(let error)? = result { self?.reportOnce(error) }
      job?.end(result)
    }
    children.append(child)
    return child
  }

  private func reportOnce(_ error: ImageDecodingError) {
    if case .unavailable = error { onUnavailable.take()?(error) }
  }

  private func note(_ event: ImageDecoderProcess.Event, of child: ImageDecoderProcess) {
    if event != .isFree || child.isSpent || isClosed { children.removeAll { $0 === child } }
    if event != .isIdle, !isClosed { serve() }
  }
}
