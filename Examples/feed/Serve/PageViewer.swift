extension PageAssets {
  /// The part of the script that enlarges one picture.
  static let viewer = #"""
    // One picture, as large as the window, and from there to its neighbors. The page stays as it is below it. It has a URL of its
    // own, and the browser's way back closes it.
    const large = document.getElementById("large");
    let shown = null, isLeaving = false;
    const hash = (card) => "#" + card.id;
    function enlarge(card) {
      if (!card) return;
      const isFirst = !large.open;
      shown = card;
      const link = card.querySelector(".picture"), old = large.querySelector("img"), image = new Image();
      const reason = large.querySelector(".reason");
      reason.textContent = "";
      // Most are there at once, and need no word.
      const waiting = setTimeout(() => { if (shown === card) reason.textContent = "Loading…"; }, 400);
      image.addEventListener("load", () => { clearTimeout(waiting); if (shown === card) reason.textContent = ""; });
      image.addEventListener("error", async () => {
        clearTimeout(waiting);
        image.classList.add("missing");
        const text = await why(image);
        if (shown === card) reason.textContent = text;
      });
      image.alt = link.querySelector("img").alt;
      image.src = link.href;
      old.replaceWith(image);
      large.querySelector(".words").textContent =
        [...card.querySelectorAll(".description, .place, .source, .about > time")]
          .map((one) => one.textContent).join(" · ");
      const post = card.querySelector("a.post"), links = [];
      for (const [name, address] of [["Open the post", post?.href], ["Open the image", link.href]]) {
        if (!address) continue;
        const one = document.createElement("a");
        [one.textContent, one.href, one.rel, one.target] = [name, address, "noreferrer", "_blank"];
        links.push(one);
      }
      large.querySelector(".links").replaceChildren(...links);
      large.querySelector("[value=previous]").disabled = !card.previousElementSibling;
      large.querySelector("[value=next]").disabled = !card.nextElementSibling;
      if (isFirst) large.showModal();
      if (location.hash === hash(card)) return;
      if (isFirst) history.pushState({ large: true }, "", hash(card));
      else history.replaceState(history.state, "", hash(card));
    }
    function step(name) {
      if (name === "close") return large.close();
      enlarge(name === "next" ? shown?.nextElementSibling : shown?.previousElementSibling);
      if (!shown?.nextElementSibling) more();
    }
    large?.addEventListener("click", (event) => { if (event.target.value) step(event.target.value); });
    large?.addEventListener("keydown", (event) => {
      const name = { ArrowRight: "next", j: "next", ArrowLeft: "previous", k: "previous" }[event.key];
      if (name && isPlain(event)) { event.preventDefault(); step(name); }
    });
    large?.addEventListener("close", () => {
      large.querySelector("img").removeAttribute("src");
      shown?.querySelector("a").focus();
      if (!shown || location.hash !== hash(shown)) return;
      // What was added when it was opened is taken back; a URL that was followed here has nothing to go back to.
      if (history.state?.large) { isLeaving = true; history.back(); }
      else history.replaceState(null, "", location.pathname + location.search);
    });
    // A browser may give the focus to what the URL before names.
    addEventListener("hashchange", () => {
      if (isLeaving) shown?.querySelector("a").focus();
      isLeaving = false;
    });
    const named = () => {
      const card = location.hash.startsWith("#p") ? document.getElementById(location.hash.slice(1)) : null;
      return card?.closest("#gallery") ? card : null;
    };
    addEventListener("popstate", () => {
      const card = list && named();
      if (card) enlarge(card);
      else if (large?.open) large.close();
    });
    if (list && named()) enlarge(named());

    """#
}
