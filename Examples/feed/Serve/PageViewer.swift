extension PageAssets {
  /// The part of the script that enlarges one image.
  static let viewer = #"""
    // Shows one image as large as the window, and steps to its neighbors. The page below stays unchanged. The view has
    // its own URL, and the browser's Back closes it.
    const stage = document.getElementById("stage"), about = document.getElementById("about");
    let shown = null, place = 0, isLeaving = false;
    const hash = () => "#" + shown.id + (place ? "." + (place + 1) : "");
    const part = (name) => about.querySelector("." + name);
    // The number of the image that the tile shows: the first one of the post that can be shown.
    const front = (card) => Number(card.querySelector(".image").dataset.place ?? 0);
    // All images of a card: its tile's, and the others of its post.
    function images(card) {
      const tile = card.querySelector(".image"), image = tile.querySelector("img");
      const first = { href: tile.href, alt: image.alt };
      const others = [...card.querySelectorAll(".set a")].map((link) => ({ href: link.href, alt: link.dataset.alt ?? "" }));
      const all = [first, ...others];
      all[front(card)].thumb = image;
      return all;
    }
    const original = (href) => href.split("?")[0];
    // The maximum enlargement of a small image.
    const enlargement = \#(LayoutRatio.enlargement);
    function limit(image, width, height) {
      if (!width) return;
      image.style.maxWidth = width * enlargement + "px";
      image.style.maxHeight = height * enlargement + "px";
    }
    // Shows the tile's image until the larger one is loaded.
    function show(one, card) {
      const view = document.createElement("div"), image = new Image(), reason = large.querySelector(".reason");
      const isShown = () => stage.firstChild === view;
      async function hideMissingOriginal() {
        const answer = await fetch(original(one.href), { method: "HEAD" }).catch(() => null);
        if (isShown() && answer && !answer.ok) part("original").hidden = part("download").hidden = true;
      }
      stage.replaceChildren(view);
      whole(view);
      reason.textContent = "";
      stage.classList.toggle("clear", !!one.thumb?.naturalWidth && isClear(one.thumb));
      if (one.thumb?.naturalWidth) {
        const thumb = new Image();
        [thumb.src, thumb.alt, thumb.className] = [one.thumb.currentSrc, "", "thumb"];
        limit(thumb, one.thumb.getAttribute("width"), one.thumb.getAttribute("height"));
        view.append(thumb);
      }
      const waiting = setTimeout(() => { if (isShown()) reason.textContent = "Loading…"; }, 500);
      image.addEventListener("load", () => {
        clearTimeout(waiting);
        if (!isShown()) return;
        limit(image, image.naturalWidth, image.naturalHeight);
        // The image may be a smaller copy, which is kept for when its server is unreachable.
        const isCopy = image.naturalWidth < Math.min(one.thumb?.getAttribute("width") ?? 0, 1600);
        reason.textContent = isCopy ? "Only a smaller copy is saved." : "";
        if (isCopy) hideMissingOriginal();
        if (!one.thumb?.naturalWidth) stage.classList.toggle("clear", isClear(image));
        view.querySelector(".thumb")?.remove();
      });
      image.addEventListener("error", async () => {
        clearTimeout(waiting);
        image.classList.add("missing");
        const text = await why(image.src);
        await hideMissingOriginal();
        if (isShown()) reason.textContent = (view.querySelector(".thumb") ? "Only this thumbnail is available. " : "") + text;
      });
      [image.alt, image.src] = [one.alt, one.href];
      view.append(image);
    }
    function tell(one, all, card) {
      const link = card.querySelector("a.post"), text = card.querySelector(".words")?.textContent ?? "";
      const title = part("title"), meta = part("meta");
      title.replaceChildren(link ? plainLink(link) : card.querySelector(".description bdi").textContent);
      meta.replaceChildren();
      const number = document.createElement("span");
      number.className = "number";
      for (const piece of [plainLink(card.querySelector("a.source")) ?? card.querySelector(".source").textContent,
        card.querySelector(".about time")?.textContent, all.length > 1 ? `image ${place + 1} of ${all.length}` : null,
        number]) {
        if (piece) meta.append(meta.hasChildNodes() ? " · " : "", piece);
      }
      part("words").textContent = one.alt && all.length > 1 && one.alt !== text ? one.alt + (text ? " — " + text : "") : text;
      const star = card.querySelector(".star"), mine = about.querySelector("[value=star]");
      mine.hidden = !star;
      if (star) mine.setAttribute("aria-pressed", star.getAttribute("aria-pressed"));
      const places = { post: link?.href, original: original(one.href), download: original(one.href) };
      for (const name in places) {
        const there = part(name);
        there.hidden = !places[name];
        if (places[name]) there.href = places[name];
      }
    }
    function plainLink(link) {
      if (!link?.href) return null;
      const copy = document.createElement("a");
      [copy.href, copy.textContent, copy.rel] = [link.href, link.textContent, link.rel];
      if (link.rel) copy.target = "_blank";
      return copy;
    }
    function enlarge(card, number = card && front(card)) {
      if (!card) return;
      const isFirst = !large.open, all = images(card);
      [shown, place] = [card, Math.min(Math.max(number, 0), all.length - 1)];
      show(all[place], card);
      tell(all[place], all, card);
      recount();
      if (isFirst) large.showModal();
      // Load the neighbors in advance.
      for (const next of [images(card)[place + 1], card.nextElementSibling && images(card.nextElementSibling)[0]])
        if (next) new Image().src = next.href;
      if (location.hash === hash()) return;
      if (isFirst) history.pushState({ large: true }, "", hash());
      else history.replaceState(history.state, "", hash());
    }
    // Shows what depends on the other cards: the number of the card, and whether it has neighbors.
    function recount() {
      const cards = [...list.children];
      part("number").textContent = `${cards.indexOf(shown) + 1}/${cards.length}`;
      large.querySelector("[value=previous]").disabled = !place && !shown.previousElementSibling;
      large.querySelector("[value=next]").disabled = place === images(shown).length - 1 && !shown.nextElementSibling;
    }
    // Steps from image to image, within a post and then to the next one.
    function step(by, isPost) {
      const count = images(shown).length, next = place + by;
      if (!isPost && next >= 0 && next < count) return enlarge(shown, next);
      const card = by > 0 ? shown.nextElementSibling : shown.previousElementSibling;
      if (card) enlarge(card, by < 0 && !isPost ? Infinity : undefined);
      if (by > 0 && !card?.nextElementSibling) more();
    }
    const actions = {
      next: () => step(1), previous: () => step(-1), close: () => large.close(), full: () => full(large),
      near: () => zoom(1.5), far: () => zoom(1 / 1.5),
      star: async () => {
        const star = shown.querySelector(".star");
        if (!star) return;
        await mark(star);
        // Another card may be shown by now.
        if (!shown?.contains(star)) return;
        about.querySelector("[value=star]").setAttribute("aria-pressed", star.getAttribute("aria-pressed"));
      },
    };
    large?.addEventListener("click", (event) => actions[event.target.closest("button")?.value]?.());
    // Listen to the document, because a disabled button or a replaced link loses the focus to the body.
    document.addEventListener("keydown", (event) => {
      if (event.altKey || event.ctrlKey || event.metaKey || help?.open || !large?.open) return;
      // In a long text, these keys scroll.
      const isLong = event.target.matches(".words") && event.target.scrollHeight > event.target.clientHeight;
      if (isLong && /^(Arrow(Up|Down)|Home|End)$/.test(event.key)) return;
      const action = {
        l: () => step(1), h: () => step(-1), j: () => step(1, true), k: () => step(-1, true), o: () => post(shown),
        s: actions.star, f: actions.full, "+": actions.near, "=": actions.near, "-": actions.far, 0: () => whole(),
        ArrowRight: () => pan(-1, 0) || step(1), ArrowLeft: () => pan(1, 0) || step(-1),
        ArrowDown: () => pan(0, -1) || step(1, true), ArrowUp: () => pan(0, 1) || step(-1, true),
        Home: () => enlarge(list.firstElementChild), End: () => { enlarge(list.lastElementChild); more(); },
        "?": () => help.showModal(),
      }[event.key];
      if (action) { event.preventDefault(); action(); }
    });
    large?.addEventListener("close", () => {
      waitForRest();
      stage.replaceChildren();
      shown?.querySelector("a").focus({ preventScroll: true });
      shown?.scrollIntoView({ block: "nearest" });
      if (!shown || location.hash !== hash()) return;
      // Remove the history entry that opening the view has added; if the view was opened by its URL, there is none.
      if (history.state?.large) { isLeaving = true; history.back(); }
      else history.replaceState(null, "", here());
    });
    // A browser may focus the element that the previous URL identifies, so refocus the card.
    addEventListener("hashchange", () => {
      if (isLeaving) shown?.querySelector("a").focus({ preventScroll: true });
      isLeaving = false;
    });
    function named() {
      const [id, number] = location.hash.slice(1).split(".");
      const card = id.startsWith("p") ? document.getElementById(id) : null;
      if (!card?.closest("#gallery")) return false;
      enlarge(card, Number(number ?? 1) - 1);
      return true;
    }
    // The image that the URL names may be further down, so load up to ten more pages to find it. It doesn't open over
    // anything that the reader opens meanwhile.
    async function seek() {
      const wanted = location.hash;
      for (let left = 10; location.hash === wanted && !help?.open && !large?.open && !named() && left; left--)
        if (!wanted.startsWith("#p") || !await more()) return;
    }
    addEventListener("popstate", () => {
      if (!list) return;
      if (here() !== listed) return location.reload();
      // While the help is open, the keys of the enlarged view do nothing.
      help?.close();
      if (named()) return;
      if (large?.open) large.close();
      seek();
    });

    """#
}
