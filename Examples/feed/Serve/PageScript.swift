extension PageAssets {
  static let script = transparency + tiles + page + search + live + keys + viewer + zoom

  /// The part of the script that inserts new items.
  private static let page = #"""
    const list = document.getElementById("gallery");
    const bar = document.getElementById("bar");
    const body = document.body;
    const isPlain = (event) => !(event.button || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey);
    let version = Number(body.dataset.version);
    let isBusy = false, isNeededAgain = false, again = 0;
    // On a dead connection, a request would wait for minutes. A search may take longer, and stops nothing else.
    const patience = () => AbortSignal.timeout?.(30_000);

    async function page(address, signal) {
      const answer = await fetch(address, { headers: { Accept: "text/html" }, signal });
      // The page of a feed that doesn't exist, or that has another name now, is an empty list.
      const page = new DOMParser().parseFromString(await answer.text(), "text/html");
      const isPage = answer.ok || answer.status === 404 && page.getElementById("gallery");
      if (!isPage) throw new Error(String(answer.status));
      return clocks(page);
    }
    // Shows times in the reader's time zone.
    function clocks(page) {
      for (const time of page.querySelectorAll("time.clock")) {
        const date = new Date(time.dateTime), isOld = Date.now() - date > 86_400_000;
        time.textContent = (isOld ? date.toLocaleDateString("sv") + " " : "") +
          date.toLocaleTimeString("en", { hour: "2-digit", minute: "2-digit", hourCycle: "h23" });
      }
      return page;
    }
    clocks(document);

    const here = () => location.pathname + location.search;
    // Inserts new items; existing ones stay in their place.
    async function refresh() {
      if (isBusy) { isNeededAgain = true; return; }
      isBusy = true;
      clearTimeout(again);
      try {
        const address = here(), fresh = await page(address, patience());
        // A search may have changed the page's URL in the meantime.
        if (address !== here()) isNeededAgain = true;
        else {
          version = Number(fresh.body.dataset.version);
          for (const part of ["#bar", "#count"]) take(part, fresh);
          const { run, loading } = fresh.body.dataset, isRestarted = run !== body.dataset.run;
          // A server that has just started lacks the items of some feeds. The page keeps them until they have arrived.
          const isPartial = list && loading && isRestarted;
          if (list) merge(fresh, isPartial); else fill(fresh);
          if (isRestarted) reloadMissing();
          if (!isPartial) body.dataset.run = run;
        }
      } catch {
        // The next greeting of the stream leads to another refresh. If the stream is still open, there may be none.
        version = -1;
        again = setTimeout(() => { if (events?.readyState === EventSource.OPEN) refresh(); }, 5_000);
      }
      isBusy = false;
      if (!isNeededAgain) isWanted = false;
      if (isNeededAgain) { isNeededAgain = false; refresh(); }
    }
    function take(part, fresh) {
      const here = document.querySelector(part), there = fresh.querySelector(part);
      if (!here || !there) return;
      // Skip unchanged content, which a screen reader would read again.
      if (here.innerHTML !== there.innerHTML) here.replaceChildren(...there.childNodes);
      here.hidden = there.hidden;
    }

    // Replaces only the changed cells of the table, which keeps its focus, its scroll position and the selected text.
    function fill(fresh) {
      const [cells, others] = [document, fresh].map((page) => [...page.querySelectorAll("tbody > tr > *")]);
      if (cells.length !== others.length) return take("tbody", fresh);
      cells.forEach((cell, place) => { if (cell.outerHTML !== others[place].outerHTML) cell.replaceWith(others[place]); });
    }

    function replace(fresh) {
      isHeld = false;
      news.hidden = true;
      list.replaceChildren(...fresh.querySelectorAll("#gallery > li"));
      document.getElementById("more")?.remove();
      explain(fresh);
      addMore(fresh);
    }
    // Says why the list is empty, if it is. A search's message stays until that search has succeeded.
    function explain(fresh) {
      const here = document.getElementById("empty"), there = fresh.getElementById("empty");
      if (here && "search" in here.dataset) return;
      if (list.childElementCount || !there) here?.remove();
      else if (here) take("#empty", fresh);
      else list.after(document.importNode(there, true));
    }

    // Inserts new items, and removes former ones unless the server has only part of its items.
    function merge(fresh, isPartial) {
      let items = [...fresh.querySelectorAll("#gallery > li")];
      const end = items.at(-1)?.id;
      // A text that differs only in its age stays, and so does the focus in it.
      grow();
      grow(fresh);
      for (const item of items) {
        const here = document.getElementById(item.id), text = here?.querySelector(".text"), now = item.querySelector(".text");
        if (!here || text.innerHTML === now.innerHTML) continue;
        text.replaceChildren(...document.importNode(now, true).childNodes);
        here.querySelector("article").className = item.querySelector("article").className;
        here.querySelector("img").alt = item.querySelector("img").alt;
      }
      const last = items.findLast((item) => document.getElementById(item.id));
      if (isPartial && list.childElementCount) {
        if (!last) return;
        items = items.slice(0, items.indexOf(last) + 1);
      }
      const added = items.filter((item) => !document.getElementById(item.id)).length;
      const there = new Set(items.map((item) => item.id)), cards = [...list.children];
      const gone = !last || isPartial ? []
        : cards.slice(0, cards.findIndex((card) => card.id === last.id)).filter((card) => !there.has(card.id));
      // A change at the beginning moves all other items, so it waits while the user is active or has scrolled down.
      const isChanged = list.childElementCount > 0 && (added > 0 || gone.length > 0 || !last);
      // An image may have been enlarged since the button was clicked, and keeps its place.
      isHeld = isChanged && (large.open || !isWanted && (isKept() || isStirred()));
      isWanted = false;
      if (added) announce(`${added}${added === items.length ? " or more" : ""} new image${added === 1 ? "" : "s"}`);
      else if (isHeld) announce("The list has changed");
      else news.hidden = true;
      if (isHeld) return waitForRest();
      // Without a common item, there would be a gap.
      if (list.childElementCount && !last) return replace(fresh);
      if (added) glide(() => insert(items, gone)); else insert(items, gone);
      explain(fresh);
      // If the list ends with the fetched page's last item, use that page's link to more items.
      if (!document.getElementById("more") && list.lastElementChild?.id === end) addMore(fresh);
    }

    function insert(items, gone) {
      for (const card of gone) card.remove();
      let before = list.firstElementChild;
      for (const item of items) {
        const here = document.getElementById(item.id);
        if (here) {
          before = here.nextElementSibling;
        } else {
          item.classList.add("new");
          list.insertBefore(document.importNode(item, true), before);
        }
      }
      if (large.open) recount();
    }

    // Announces new images, including to screen readers; a button leads to them if the user has scrolled down.
    const news = document.getElementById("news"), said = document.getElementById("said");
    let isHeld = false, isWanted = false;
    function announce(text) {
      said.textContent = text;
      news.textContent = `↑ ${text}`;
      news.hidden = !isHeld;
    }
    function showNews() {
      if (!isHeld) return;
      [isHeld, isWanted] = [false, true];
      news.hidden = true;
      return refresh();
    }
    news?.addEventListener("click", async () => {
      scrollTo({ top: 0 });
      await showNews();
      list.querySelector("a")?.focus({ preventScroll: true });
    });

    // More items are loaded when the link is reached or chosen.
    const watcher = new IntersectionObserver(
      (seen) => { if (seen.some((one) => one.isIntersecting)) more(); }, { rootMargin: "2000px" });
    let loading = null;
    const more = () => loading ??= load().finally(() => { loading = null; });
    // True if the list has grown.
    async function load() {
      const link = document.getElementById("more");
      if (!link) return false;
      try {
        const fresh = await page(link.href, patience());
        // A search may have replaced the list in the meantime.
        if (!link.isConnected) { observe(); return false; }
        const hadFocus = document.activeElement === link;
        // A server that has just started may not know yet that there is more.
        const isPartial = fresh.body.dataset.loading && !fresh.getElementById("more");
        if (isPartial) setTimeout(observe, 2000); else link.remove();
        const items = [...fresh.querySelectorAll("#gallery > li")].filter((item) => !document.getElementById(item.id));
        list.append(...items);
        if (hadFocus) items[0]?.querySelector("a").focus();
        addMore(fresh);
        if (large.open) recount();
        return true;
      } catch { return false; /* The link stays. */ }
    }
    function addMore(fresh) {
      const link = fresh.getElementById("more");
      if (!link) return;
      document.querySelector(".pages").append(document.importNode(link, true));
      observe();
    }
    // Observing the link again reports its position again.
    function observe() {
      const link = document.getElementById("more");
      if (!link) return;
      watcher.unobserve(link);
      watcher.observe(link);
    }

    // The server keeps stars. Pages of other sites can't send this header.
    async function mark(star) {
      // A second press has no effect until the first one is saved.
      if (star.dataset.busy) return;
      star.dataset.busy = 1;
      const isOn = star.getAttribute("aria-pressed") !== "true";
      const answer = await fetch(`/star?card=${encodeURIComponent(star.value)}&on=${isOn ? 1 : 0}`,
        { method: "POST", headers: { "X-Feed": "star" } }).catch(() => null);
      delete star.dataset.busy;
      if (answer?.ok) star.setAttribute("aria-pressed", String(isOn));
      else said.textContent = "The star could not be changed.";
    }

    """#
}
