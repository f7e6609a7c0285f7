extension PageAssets {
  /// The part of the script that keeps the page up to date.
  static let live = #"""
    if (list) {
      document.addEventListener("click", (event) => {
        if (!isPlain(event)) return;
        const star = event.target.closest("#gallery .star"), card = event.target.closest("#gallery > li");
        if (star) { event.preventDefault(); mark(star); }
        else if (event.target.id === "more") { event.preventDefault(); more(); }
        else if (card && event.target.closest(".image, .set")) { event.preventDefault(); enlarge(card); }
      });
      observe();
    }

    // New images wait until the user has been idle for a while, so that nothing moves while it is being used.
    const atRest = 5_000, isCalm = () => matchMedia("(prefers-reduced-motion: reduce)").matches;
    let stirred = performance.now(), resting = 0;
    for (const name of ["pointermove", "pointerdown", "keydown", "wheel", "scroll"])
      addEventListener(name, () => { stirred = performance.now(); }, { passive: true });
    const isStirred = () => performance.now() - stirred < atRest;
    // True while only the button shows new images.
    const isKept = () => isCalm() || scrollY >= 300 || large.open;
    function waitForRest() {
      clearTimeout(resting);
      resting = 0;
      // Scrolling up, or closing the enlarged image, starts the wait again.
      if (!isHeld || isKept()) return;
      resting = setTimeout(() => {
        if (isKept() || isStirred()) waitForRest(); else showNews();
      }, Math.max(250, stirred + atRest - performance.now()));
    }
    addEventListener("scroll", waitForRest, { passive: true });
    // Animates cards that move to make room.
    function glide(change) {
      const isSeen = ([, box]) => box.bottom > 0 && box.top < innerHeight;
      const seen = isCalm() ? [] : [...list.children].map((card) => [card, card.getBoundingClientRect()]).filter(isSeen);
      change();
      for (const [card, from] of seen) {
        const to = card.getBoundingClientRect();
        if (!to.width) continue;
        const [x, y] = [from.left - to.left, from.top - to.top];
        const start = `translate(${x}px, ${y}px) scale(${from.width / to.width}, ${from.height / to.height})`;
        card.animate([{ transformOrigin: "0 0", transform: start }, { transformOrigin: "0 0", transform: "none" }],
          { duration: 400, easing: "ease-out" });
      }
    }

    // The text of an age, which grows while the page is open.
    function age(seconds) {
      for (const [name, length] of [["day", 86400], ["hour", 3600], ["minute", 60], ["second", 1]]) {
        const count = Math.floor(seconds / length);
        if (count > 0) return `${count} ${name}${count === 1 ? "" : "s"} ago`;
      }
      return "just now";
    }
    function grow(page = document) {
      for (const time of page.querySelectorAll("time[datetime]:not(.clock)")) {
        const text = age((Date.now() - Date.parse(time.dateTime)) / 1000);
        if (time.textContent !== text) time.textContent = text;
      }
    }
    // A check without new images sends no event, so the health page is refreshed regularly.
    setInterval(() => { if (!document.hidden) list ? grow() : refresh(); }, 10_000);

    // Connect only while the page is visible: a browser has six connections for all pages of one server.
    let events = null, isLost = false, retry = 0;
    function listen() {
      events?.close();
      clearTimeout(retry);
      events = new EventSource("/events");
      const changed = (event) => {
        const now = JSON.parse(event.data);
        if (now.run !== body.dataset.run || now.version > version) refresh();
      };
      for (const name of ["hello", "items", "health", "reset"]) events.addEventListener(name, changed);
      events.addEventListener("open", () => { if (isLost) { isLost = false; reloadMissing(); refresh(); } });
      events.addEventListener("error", lose);
    }
    async function lose() {
      const lost = "This page has lost its connection to the server, and is reconnecting. It may be out of date.";
      // Browsers reconnect automatically, except after an HTTP error.
      const isRefused = events.readyState === EventSource.CLOSED;
      if (isRefused) retry = setTimeout(listen, 5_000);
      if (!isLost) warn(lost);
      isLost = true;
      // Events have no text that says why. Any other response does: the server may require another token.
      const isReason = (answer) => !answer.ok && answer.headers.get("Content-Type")?.startsWith("text/plain");
      const reason = isRefused && await fetch("/icon.svg", { cache: "no-store" })
        .then((answer) => isReason(answer) ? answer.text() : "").catch(() => "");
      if (isLost) warn(reason ? reason.trim() : lost);
    }
    function warn(text) {
      if (bar.textContent !== text) bar.textContent = text;
      bar.hidden = false;
    }
    function look() {
      if (document.hidden) { events?.close(); events = null; clearTimeout(retry); }
      else if (!events) { grow(); listen(); }
    }
    document.addEventListener("visibilitychange", look);
    look();

    """#
}
