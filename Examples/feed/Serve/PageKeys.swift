extension PageAssets {
  /// The part of the script that handles the keyboard.
  static let keys = #"""
    const large = document.getElementById("large"), help = document.getElementById("help");
    const middle = (box) => (box.left + box.right) / 2;
    // The nearest image in the next or previous row.
    function beside(card, direction) {
      const here = card.getBoundingClientRect();
      let best = null, least = Infinity;
      for (let one = card; (one = direction > 0 ? one.nextElementSibling : one.previousElementSibling);) {
        const box = one.getBoundingClientRect();
        if (direction > 0 ? box.top < here.top + 8 : box.top > here.top - 8) continue;
        const away = Math.abs(box.top - here.top) * 4 + Math.abs(middle(box) - middle(here));
        if (away < least) [best, least] = [one, away];
        if (Math.abs(box.top - here.top) > 3 * here.height + 200) break;
      }
      return best;
    }
    // The card that has the focus, or else the first visible one.
    let last = null;
    document.addEventListener("focusin", (event) => { last = event.target.closest("#gallery > li") ?? last; });
    function current() {
      const card = document.activeElement.closest("#gallery > li");
      if (card) return card;
      const isSeen = (one) => { const box = one.getBoundingClientRect(); return box.bottom > 0 && box.top < innerHeight; };
      if (last?.isConnected && isSeen(last)) return last;
      return [...list.children].find(isSeen) ?? null;
    }
    function move(key) {
      const card = current() ?? list.firstElementChild;
      const isThere = document.activeElement.closest("#gallery > li") === card;
      // The first arrow focuses a visible card.
      const next = isThere || isEnd(key) ? moves[key](card) : card;
      if (!next) return more();
      const link = next.querySelector("a");
      link.focus({ preventScroll: true });
      next.scrollIntoView({ block: "nearest", behavior: isCalm() ? "auto" : "smooth" });
      if (!next.nextElementSibling) more();
    }
    const post = (card) => {
      const link = card?.querySelector("a.post");
      if (link) open(link.href, "_blank", "noopener,noreferrer");
    };
    function full(element) {
      if (document.fullscreenElement) document.exitFullscreen();
      else element.requestFullscreen?.().catch(() => {});
    }
    const moves = {
      ArrowRight: (card) => card.nextElementSibling, ArrowLeft: (card) => card.previousElementSibling,
      ArrowDown: (card) => beside(card, 1), ArrowUp: (card) => beside(card, -1),
      Home: () => list.firstElementChild, End: () => list.lastElementChild,
    };
    [moves.l, moves.h, moves.j, moves.k] = [moves.ArrowRight, moves.ArrowLeft, moves.ArrowDown, moves.ArrowUp];
    const isEnd = (key) => key === "Home" || key === "End";
    document.addEventListener("keydown", (event) => {
      if (event.altKey || event.ctrlKey || event.metaKey || help?.open || large?.open) return;
      if (event.target.closest("input, summary, dialog")) return;
      if (event.key === "?" && help) { event.preventDefault(); return help.showModal(); }
      if (!list) return;
      if (moves[event.key] && list.childElementCount) { event.preventDefault(); return move(event.key); }
      const action = {
        o: () => post(current()), s: () => current()?.querySelector(".star")?.click(), "/": () => words?.focus(),
        f: () => full(document.documentElement),
        Enter: () => { if (event.target === body && current()) enlarge(current()); else return false; },
      }[event.key];
      if (action && action() !== false) event.preventDefault();
    });
    words?.addEventListener("keydown", (event) => { if (event.key === "Escape") words.blur(); });
    help?.addEventListener("click", (event) => { if (event.target === help || event.target.value) help.close(); });

    """#
}
