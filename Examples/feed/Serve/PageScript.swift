extension PageAssets {
  static let script = page + viewer

  private static let page = #"""
    "use strict";
    const list = document.getElementById("gallery");
    const bar = document.getElementById("bar");
    const body = document.body;
    let version = Number(body.dataset.version);
    let isBusy = false, isNeededAgain = false;

    // A picture that does not come says so, and why.
    async function why(image) {
      let reason = "";
      try {
        const answer = await fetch(image.currentSrc || image.src, { cache: "force-cache" });
        if (!answer.ok) reason = (await answer.text()).trim();
      } catch { /* The server is unreachable. */ }
      return "This picture cannot be shown." + (reason ? " " + reason[0].toUpperCase() + reason.slice(1) : "");
    }
    async function missing(image) {
      const place = image.closest(".picture");
      if (!place || place.classList.contains("missing")) return;
      place.classList.add("missing");
      const words = document.createElement("span");
      words.className = "reason";
      words.textContent = await why(image);
      place.append(words);
    }
    // A tall comic and a panorama are shown whole.
    function fit(image) {
      const ratio = image.naturalWidth / image.naturalHeight;
      if (ratio && (ratio < 0.6 || ratio > 2.4)) image.classList.add("whole");
    }
    document.addEventListener("load", (event) => { if (event.target.tagName === "IMG") fit(event.target); }, true);
    for (const image of document.images) if (image.complete) fit(image);
    document.addEventListener("error", (event) => { if (event.target.tagName === "IMG") missing(event.target); }, true);
    for (const image of document.images)
      if (image.complete && image.naturalWidth === 0 && image.currentSrc) missing(image);

    async function page(address) {
      const answer = await fetch(address, { headers: { Accept: "text/html" } });
      if (!answer.ok) throw new Error(String(answer.status));
      return clocks(new DOMParser().parseFromString(await answer.text(), "text/html"));
    }
    // Times of day are the reader's.
    function clocks(page) {
      for (const time of page.querySelectorAll("time.clock")) {
        const date = new Date(time.dateTime), isOld = Date.now() - date > 86_400_000;
        time.textContent = (isOld ? date.toLocaleDateString("sv") + " " : "") +
          date.toLocaleTimeString("en", { hour: "2-digit", minute: "2-digit", hourCycle: "h23" });
      }
      return page;
    }
    clocks(document);

    // Takes over what is new; what is here already stays where it is.
    async function refresh() {
      if (isBusy) { isNeededAgain = true; return; }
      isBusy = true;
      try {
        const fresh = await page(location.pathname + location.search);
        version = Number(fresh.body.dataset.version);
        for (const id of ["bar", "count"]) take(id, fresh);
        if (!list) take("main", fresh);
        else if (fresh.body.dataset.run !== body.dataset.run) replace(fresh);
        else merge(fresh);
        body.dataset.run = fresh.body.dataset.run;
      } catch { /* The stream says when the server is back. */ }
      isBusy = false;
      if (isNeededAgain) { isNeededAgain = false; refresh(); }
    }
    function take(id, fresh) {
      const here = document.getElementById(id), there = fresh.getElementById(id);
      // A reader would say again what has not changed.
      if (here.innerHTML !== there.innerHTML) here.replaceChildren(...there.childNodes);
      here.hidden = there.hidden;
    }

    // Another run of the server has other addresses for its pictures.
    function replace(fresh) {
      list.replaceChildren(...fresh.querySelectorAll("#gallery > li"));
      for (const id of ["more", "empty"]) document.getElementById(id)?.remove();
      const empty = fresh.getElementById("empty");
      if (empty) list.after(document.importNode(empty, true));
      addMore(fresh);
    }

    function merge(fresh) {
      const items = [...fresh.querySelectorAll("#gallery > li")];
      for (const item of items) {
        const here = document.getElementById(item.id), text = here?.querySelector(".text"), now = item.querySelector(".text");
        if (!here || text.innerHTML === now.innerHTML) continue;
        text.replaceChildren(...document.importNode(now, true).childNodes);
        here.querySelector("article").className = item.querySelector("article").className;
        here.querySelector("img").alt = item.querySelector("img").alt;
      }
      // Cards of further pages, which were not requested again.
      const origins = new Map([...fresh.getElementById("origins").content.children].map((one) => [one.dataset.feed, one]));
      for (const here of list.querySelectorAll(".origin")) {
        const now = origins.get(here.dataset.feed);
        if (now && here.outerHTML !== now.outerHTML) here.replaceWith(document.importNode(now, true));
      }
      const added = items.filter((item) => !document.getElementById(item.id)).length;
      // In a grid, one more at the beginning moves all: who looks at others is asked first.
      isHeld = added > 0 && list.childElementCount > 0 && scrollY >= 300;
      if (added) announce(`${added}${added === items.length ? " or more" : ""} new picture${added === 1 ? "" : "s"}`);
      if (isHeld) return;
      const last = items.findLast((item) => document.getElementById(item.id));
      // With nothing in common there would be a gap.
      if (list.childElementCount && !last) return replace(fresh);
      const there = new Set(items.map((item) => item.id));
      if (last) for (const card of [...list.children]) {
        if (card.id === last.id) break;
        if (!there.has(card.id)) card.remove();
      }
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
      if (list.childElementCount) document.getElementById("empty")?.remove();
      // Where the list ends as the page does, what follows that follows this.
      if (!document.getElementById("more") && list.lastElementChild?.id === items.at(-1)?.id) addMore(fresh);
    }

    // Says what has arrived, also with a screen reader; further down, a button leads to it.
    const news = document.getElementById("news"), said = document.getElementById("said");
    let isHeld = false;
    function announce(text) {
      said.textContent = text;
      news.textContent = `↑ ${text}`;
      news.hidden = !isHeld;
    }
    function showNews() {
      if (!isHeld) return;
      isHeld = false;
      news.hidden = true;
      return refresh();
    }
    news?.addEventListener("click", async () => {
      scrollTo({ top: 0 });
      await showNews();
      list.querySelector("a")?.focus({ preventScroll: true });
    });
    addEventListener("scroll", () => { if (scrollY < 300) showNews(); }, { passive: true });

    // More is loaded when its link is reached or chosen.
    const watcher = new IntersectionObserver(
      (seen) => { if (seen.some((one) => one.isIntersecting)) more(); }, { rootMargin: "600px" });
    let isLoading = false;
    async function more() {
      const link = document.getElementById("more");
      if (!link || isLoading) return;
      isLoading = true;
      try {
        const fresh = await page(link.href);
        const hadFocus = document.activeElement === link;
        link.remove();
        let first = null;
        for (const item of fresh.querySelectorAll("#gallery > li")) {
          if (document.getElementById(item.id)) continue;
          const added = document.importNode(item, true);
          list.append(added);
          first ??= added;
        }
        if (hadFocus) first?.querySelector("a").focus();
        addMore(fresh);
      } catch { /* The link stays. */ }
      isLoading = false;
    }
    function addMore(fresh) {
      const link = fresh.getElementById("more");
      if (!link) return;
      document.querySelector(".pages").append(document.importNode(link, true));
      watcher.observe(document.getElementById("more"));
    }
    const isPlain = (event) => !(event.button || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey);
    if (list) {
      document.addEventListener("click", (event) => {
        if (!isPlain(event)) return;
        const picture = event.target.closest("#gallery .picture");
        const star = event.target.closest(".star");
        if (star) return mark(star);
        if (event.target.id === "more") { event.preventDefault(); more(); }
        else if (picture) { event.preventDefault(); enlarge(picture.closest("li")); }
      });
      const link = document.getElementById("more");
      if (link) watcher.observe(link);
    }

    // A star is kept by the server. The header is one that no page of another site may send.
    async function mark(star) {
      const isOn = star.getAttribute("aria-pressed") !== "true";
      const answer = await fetch(`/star?card=${encodeURIComponent(star.value)}&on=${isOn ? 1 : 0}`,
        { method: "POST", headers: { "X-Feed": "star" } }).catch(() => null);
      if (answer?.ok) star.setAttribute("aria-pressed", String(isOn));
      else said.textContent = "The star was not saved.";
    }

    function empty(text) {
      const here = document.getElementById("empty") ?? document.createElement("p");
      here.id = "empty";
      here.textContent = text;
      if (!here.isConnected) list.before(here);
    }

    // What is typed is looked for; the latest question alone is answered.
    const words = document.getElementById("words");
    let typed = 0, asked = 0;
    words?.addEventListener("input", () => {
      clearTimeout(typed);
      typed = setTimeout(async () => {
        const number = ++asked, text = words.value.trim();
        const question = new URLSearchParams(location.search);
        for (const name of ["q", "place", "past"]) question.delete(name);
        if (text) question.set("q", text);
        const address = question.size ? "/?" + question : "/";
        // The first question after many new pictures indexes them, which takes a while.
        const waiting = setTimeout(() => empty("Searching… What is new since the last search is indexed first."), 700);
        try {
          const fresh = await page(address);
          if (number !== asked) return;
          history.replaceState(null, "", address);
          replace(fresh);
        } catch { /* Enter asks again. */ }
        clearTimeout(waiting);
      }, 150);
    });

    // Arrow keys lead from picture to picture.
    list?.addEventListener("keydown", (event) => {
      const here = event.target.closest("li");
      if (!here || event.altKey || event.ctrlKey || event.metaKey) return;
      const all = [...list.children], index = all.indexOf(here);
      const columns = all.filter((one) => one.offsetTop === all[0].offsetTop).length;
      const step = { ArrowRight: 1, ArrowLeft: -1, ArrowDown: columns, ArrowUp: -columns, j: 1, k: -1,
        Home: -index, End: all.length - 1 - index }[event.key];
      if (step === undefined || !all[index + step]) return;
      event.preventDefault();
      all[index + step].querySelector("a").focus();
    });
    // Before anything has the focus, j begins with the pictures and / with the search.
    addEventListener("keydown", (event) => {
      if (event.target !== body || !isPlain(event)) return;
      const place = { j: list?.querySelector("a"), "/": words }[event.key];
      if (!place) return;
      event.preventDefault();
      place.focus();
    });

    // Ages grow while the page is open.
    function age(seconds) {
      for (const [name, length] of [["day", 86400], ["hour", 3600], ["minute", 60], ["second", 1]]) {
        const count = Math.floor(seconds / length);
        if (count > 0) return `${count} ${name}${count === 1 ? "" : "s"} ago`;
      }
      return "just now";
    }
    function grow() {
      for (const time of document.querySelectorAll("time[datetime]:not(.clock)")) {
        const text = age((Date.now() - Date.parse(time.dateTime)) / 1000);
        if (time.textContent !== text) time.textContent = text;
      }
    }
    // A check that finds nothing new sends no event, and is on the page of health.
    setInterval(() => { if (!document.hidden) list ? grow() : refresh(); }, 10_000);

    // Live while it is seen: a browser has six connections for all pages of one server.
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
      events.addEventListener("open", () => { if (isLost) { isLost = false; refresh(); } });
      events.addEventListener("error", () => {
        isLost = true;
        bar.textContent = "This page has lost its server, and tries again. It may not be up to date.";
        bar.hidden = false;
        // A browser tries again by itself, unless it has got another answer.
        if (events.readyState === EventSource.CLOSED) retry = setTimeout(listen, 5_000);
      });
    }
    function look() {
      if (document.hidden) { events?.close(); events = null; clearTimeout(retry); }
      else if (!events) { grow(); listen(); }
    }
    document.addEventListener("visibilitychange", look);
    look();

    """#
}
