import Foundation
import ImageFeed
import PlainText

/// A page that shows one image on the whole screen, and the next one after a while.
enum SlideshowPage {
  /// The minimum and the maximum time for which an image is shown.
  static let times: ClosedRange<Duration> = .seconds(2)...Duration.seconds(24 * 3600)
  static let usual = Duration.seconds(30)

  /// The slideshow that a URL requests.
  struct Wish {
    var query: GalleryQuery
    var every: Duration
    var hasClock: Bool
    /// The card to show; if it doesn't exist, the latest one is shown.
    var card: String?

    func address(of card: String?) -> String {
      var items = [URLQueryItem(name: "every", value: every.text)]
      if hasClock { items.append(URLQueryItem(name: "clock", value: "1")) }
      if let card { items.append(URLQueryItem(name: "at", value: card)) }
      let address = query.address(of: "/slideshow")
      let rest = items.map { "\($0.name)=\($0.value ?? "")" }.joined(separator: "&")
      return address + (address.contains("?") ? "&" : "?") + rest
    }
  }

  /// The position of the entry to show; `nil` if there are no entries.
  static func place(_ wish: Wish, in entries: [Gallery.Entry]) -> Int? {
    entries.isEmpty ? nil : wish.card.flatMap { card in entries.firstIndex { $0.card == card } } ?? 0
  }

  static func text(_ gallery: Gallery, _ entries: [Gallery.Entry], _ wish: Wish) -> String {
    let place = Self.place(wish, in: entries)
    let entry = place.map { entries[$0] }
    // After the last image, go back to the first, so that images that arrived in the meantime are shown too.
    let next = place.map { entries[($0 + 1) % entries.count].card }
    let following = wish.address(of: next)
    let leaving = wish.query.address().markup
    let seconds = max(2, Int(wish.every / .seconds(1)))
    return """
      \(PageHead.beginning("Slideshow", colors: "dark"))
      <link rel="next" href="\(following.markup)">
      <noscript><meta http-equiv="refresh" content="\(seconds);url=\(following.markup)"></noscript>
      <script src="/slideshow.js" defer></script>
      </head>
      <body class="show" data-every="\(seconds)">
      <main><h1 class="unseen">Slideshow</h1>\(wish.hasClock ? "<p id=\"clock\">\(Date().timeOfDay.prefix(5))</p>" : "")
      \(entry.map { frame($0, gallery) } ?? "<p class=\"empty\">There are no images.</p>")</main>
      <nav aria-label="Slideshow"><a href="\(following.markup)">Next</a> <a href="\(leaving)">Leave</a></nav>
      </body>
      </html>

      """
  }

  private static func frame(_ entry: Gallery.Entry, _ gallery: Gallery) -> String {
    let source = gallery.sources[entry.source].name
    let text = entry.description?.printableLine(limit: 200) ?? "An image without a description"
    let alt = (entry.post.alt?.printable(limit: 300) ?? text).markup
    let facts = gallery.facts[entry.key]
    let others = entry.others.map { GalleryCard.place($0.key, gallery.facts[$0.key]) }.joined(separator: " ")
    return """
      <figure class="frame\(facts?.isOnGround == true ? " clear" : "")"><img src="\(GalleryCard.place(entry.key, facts))" alt="\(alt)"\
      \(others.isEmpty ? "" : " data-others=\"\(others)\"")>\
      <figcaption><bdi>\(text.markup)</bdi> · <bdi>\(source.markup)</bdi></figcaption></figure>
      """
  }
}

extension PageAssets {
  /// The script of the slideshow: it loads the next page, and shows that page's image once the image is loaded.
  static let slideshow = transparency + show

  private static let show = #"""
    const body = document.body;
    const pause = Number(body.dataset.every) * 1000;
    let next = document.querySelector("link[rel=next]")?.href, turn = 0, timer = 0;
    // Waits until the image is loaded, or else the first one of its post that can be shown. Shows a transparent image on a
    // background on which its colors can be seen.
    async function ready(frame) {
      const image = frame.querySelector("img"), others = image.dataset.others?.split(" ").slice(0, 3) ?? [];
      while (!await image.decode().then(() => true, () => false)) {
        if (!others.length) throw image;
        image.src = others.shift();
      }
      frame.classList.toggle("clear", isClear(image));
    }
    // Continues after a pause. If no image is on the screen, shows the reason.
    async function skip(image) {
      clearTimeout(timer);
      timer = setTimeout(advance, Math.min(pause, 3000));
      if (!image.src) return;
      const answer = await fetch(image.src, { cache: "force-cache" }).catch(() => null);
      const text = answer && !answer.ok ? await answer.text() : "This image cannot be shown.";
      const old = document.querySelector(".frame, .empty");
      if (old?.matches(".frame") && old.querySelector("img").naturalWidth) return;
      const words = document.createElement("p");
      [words.className, words.textContent] = ["empty", text];
      old?.remove();
      document.querySelector("main").append(words);
    }
    async function advance() {
      clearTimeout(timer);
      const mine = ++turn;
      try {
        // On a dead connection, a request would wait for minutes.
        const signal = AbortSignal.timeout?.(30_000);
        const answer = await fetch(next, { headers: { Accept: "text/html" }, signal });
        if (!answer.ok) throw new Error(String(answer.status));
        const fresh = new DOMParser().parseFromString(await answer.text(), "text/html");
        const following = fresh.querySelector("link[rel=next]").href, there = fresh.querySelector(".frame");
        if (mine !== turn) return;
        next = following;
        document.querySelector(".show nav a").href = next;
        if (there) {
          const frame = document.importNode(there, true), old = document.querySelectorAll(".frame, .empty");
          // A post without an image that can be shown, or whose image takes too long, is skipped, after a pause.
          const tooLate = new Promise((_, fail) => setTimeout(fail, 60_000, frame.querySelector("img")));
          await Promise.race([ready(frame), tooLate]);
          if (mine !== turn) return;
          frame.classList.add("coming");
          document.querySelector("main").append(frame);
          frame.getBoundingClientRect();
          frame.classList.remove("coming");
          setTimeout(() => { for (const one of old) one.remove(); }, 1100);
        }
        timer = setTimeout(advance, pause);
      } catch (problem) {
        if (mine === turn) skip(problem);
      }
    }
    timer = setTimeout(advance, pause);
    const first = document.querySelector(".frame");
    if (first) ready(first).catch((problem) => { if (!turn) skip(problem); });
    // Keep the screen on. The system may release the lock while the page is hidden.
    let lock = null;
    async function wake() {
      try { lock = await navigator.wakeLock?.request("screen") ?? null; } catch { lock = null; }
    }
    document.addEventListener("visibilitychange", () => { if (!document.hidden) wake(); });
    wake();
    // Show the cursor and the links while the mouse is moving.
    let rest = 0;
    function stir() {
      body.classList.add("awake");
      clearTimeout(rest);
      rest = setTimeout(() => body.classList.remove("awake"), 2500);
    }
    addEventListener("pointermove", stir);
    addEventListener("keydown", (event) => {
      if (event.altKey || event.ctrlKey || event.metaKey) return;
      const leave = () => { location.href = document.querySelector(".show nav a:last-child").href; };
      const action = {
        ArrowRight: advance, l: advance, " ": advance, Escape: leave, q: leave,
        f: () => document.fullscreenElement ? document.exitFullscreen() : document.documentElement.requestFullscreen().catch(() => {}),
      }[event.key];
      if (action) { event.preventDefault(); action(); }
    });
    const clock = document.getElementById("clock");
    function tick() {
      clock.textContent = new Date().toLocaleTimeString("en", { hour: "2-digit", minute: "2-digit", hourCycle: "h23" });
    }
    if (clock) { tick(); setInterval(tick, 5_000); }

    """#
}
