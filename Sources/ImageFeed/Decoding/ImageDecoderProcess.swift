import FeedStream
import Foundation

/// One image in the decoder.
final class ImageDecodingJob {
  /// The request, until it has been completed or cancelled.
  private(set) var request: ImageDecodingRequest?
  /// True once a process has started to decode the image.
  var isRunning = false
  private var deliver: ((Result<DecodedImage, ImageDecodingError>) -> Void)?

  init(_ request: ImageDecodingRequest, _ deliver: @escaping (Result<DecodedImage, ImageDecodingError>) -> Void) {
    self.request = request
    self.deliver = deliver
  }

  /// Completes the request. Later calls have no effect.
  func end(_ result: Result<DecodedImage, ImageDecodingError>?) {
    request = nil
    let deliver = deliver.take()
    if let result { deliver?(result) }
  }
}

/// A process that decodes images, one at a time. Releasing this object terminates the process.
final class ImageDecoderProcess {
  /// An event of a child process.
  enum Event {
    /// The process can accept another image.
    case isFree
    /// The process was idle for the maximum time.
    case isIdle
    /// The process can't be used anymore.
    case isLost
  }

  private let process: RunningSubprocess
  private let scheduler: any LoopScheduler
  private let options: ImageDecoder.Options
  private let notify: (ImageDecoderProcess, Event, ImageDecodingJob?, Result<DecodedImage, ImageDecodingError>?) -> Void
  private var job: ImageDecodingJob?
  private var request: ImageDecodingRequest?
  private var reading: AnyCancellable?
  private var writing: AnyCancellable?
  private var exiting: AnyCancellable?
  /// The timer for the image's deadline, or for the process's idle time.
  private var alarm: (any Cancellable)?
  private var hasEndedWriting = false
  private var status: ExitStatus?
  private var answered = 0
  private(set) var isLost = false

  /// - Parameter notify: called with the event, and with the job that the event ends and its result, if any.
  init(
    _ program: String, _ options: ImageDecoder.Options, on scheduler: any LoopScheduler,
    _ notify:
      @escaping (ImageDecoderProcess, Event, ImageDecodingJob?, Result<DecodedImage, ImageDecodingError>?) -> Void
  ) throws(SystemError) {
    // The process doesn't get our environment, folder, or terminal, so a Ctrl-C in the terminal doesn't reach it
    // either.
    var subprocess = Subprocess(program, environment: .clean, folder: "/")
    subprocess.standardInput = .pipe
    subprocess.standardErrors = .null
    subprocess.endsDescendants = true
    // Images of up to four megapixels are decoded into it, so that their pixels needn't be copied through the pipe.
    subprocess.sharedBytes = 16 << 20
    process = try subprocess.start(on: scheduler)
    self.scheduler = scheduler
    self.options = options
    self.notify = notify
    reading = process.output.framed(by: ImageDecodingResponses()).sink { [weak self] in
      if case .failure = $0 { self?.lose(.crashed(nil)) } else { self?.outputHasEnded() }
    } receiveValue: { [weak self] in
      self?.receive($0)
    }
    exiting = process.exit.sink { [weak self] in
      self?.status = $0
      self?.leaveIfEnded()
    }
  }

  deinit {
    alarm?.cancel()
    kill()
  }

  var number: Int32 { process.number }

  var isFree: Bool { request == nil && writing == nil && !isLost }

  /// More images, of 5 seconds of processor time each, could reach the process's limit of two hours (`image-decoder`),
  /// and the wrong image would fail.
  private static let mostImages = 1_400

  /// True if the process has decoded the maximum number of images.
  var isSpent: Bool { answered >= min(options.imagesPerChild, Self.mostImages) }

  /// - Precondition: the process is free.
  func decode(_ job: ImageDecodingJob, _ request: ImageDecodingRequest) {
    self.job = job
    self.request = request
    job.isRunning = true
    wake(after: options.deadline) { $0.lose(.tookTooLong) }
    // Set this before the write begins, because the write may complete immediately.
    let writing = [request.head, request.bytes].publisher.write(to: process.input)
    self.writing = AnyCancellable {}
    let subscription = writing.sink { [weak self] _ in
      self?.hasWritten()
    } receiveValue: { _ in
    }
    if self.writing != nil { self.writing = subscription }
  }

  /// Called when the write has ended. A failed write means that the child has ended, which is reported separately.
  private func hasWritten() {
    writing = nil
    if isFree { rest(nil, nil) }
  }

  private func receive(_ response: ImageDecodingResponse) {
    var response = response
    if response.isShared {
      // The process may have written since, but its pixels are untrusted anyway.
      guard request?.form == .pixels, let pixels = takePixels(response.size) else { return lose(.crashed(nil)) }
      response.body = pixels
    }
    guard let request, let result = response.result(for: request) else { return lose(.crashed(nil)) }
    let job = job.take()
    self.request = nil
    // A process that replies without reading its image is still killed at the deadline.
    if writing == nil { alarm.take()?.cancel() }
    answered += 1
    if isFree { rest(job, result) } else { job?.end(result) }
  }

  private func takePixels(_ size: DecodedImage.Size) -> Chunk? {
    let count = size.width * size.height * 4
    guard let memory = process.sharedMemory, count <= memory.count else { return nil }
    return memory.prefix(count)
  }

  private func rest(_ job: ImageDecodingJob?, _ result: Result<DecodedImage, ImageDecodingError>?) {
    wake(after: options.idle) { $0.notify($0, .isIdle, nil, nil) }
    notify(self, .isFree, job, result)
  }

  private func outputHasEnded() {
    hasEndedWriting = true
    leaveIfEnded()
  }

  /// Fails the image with the error for the exit status once all output of the process has been read, because a reply
  /// that was written before the exit is still valid.
  private func leaveIfEnded() {
    guard hasEndedWriting, let status else { return }
    lose(ImageDecodingError(status, isFirst: answered == 0))
  }

  /// Ends the process, and fails its image.
  func lose(_ error: ImageDecodingError) {
    guard !isLost else { return }
    isLost = true
    kill()
    let job = job.take()
    for subscription in [reading.take(), writing.take(), exiting.take()] { subscription?.cancel() }
    alarm.take()?.cancel()
    notify(self, .isLost, job, job.map { _ in .failure(error) })
    request = nil
  }

  /// Terminates the process with SIGKILL, which is safe, because the process has no state besides the image.
  private func kill() {
    if status == nil { process.send(SIGKILL) }
  }

  private func wake(after delay: Duration, _ action: @escaping (ImageDecoderProcess) -> Void) {
    alarm?.cancel()
    alarm = scheduler.once(after: delay) { [weak self] in
      if let self { action(self) }
    }
  }
}
