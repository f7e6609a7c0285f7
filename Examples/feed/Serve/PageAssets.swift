/// What goes with the page.
enum PageAssets {
  static let icon = """
    <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16"><rect width="16" height="16" rx="3" fill="#2257a5"/>\
    <circle cx="5" cy="5" r="1.6" fill="#fff"/><path d="M2 13l4-5 3 3 2-2 3 4z" fill="#fff"/></svg>

    """

  static let style = """
    :root { color-scheme: light dark; --back: #fbfbfa; --card: #fff; --text: #1b1b1a; --soft: #595955; --line: #dcdcd8;
      --accent: #1d4f99; --warn-back: #fff1d6; --warn: #6b4300; }
    @media (prefers-color-scheme: dark) { :root { --back: #141413; --card: #1f1f1e; --text: #ecece9; --soft: #a9a9a3;
      --line: #383836; --accent: #8cb8ff; --warn-back: #3a2c0c; --warn: #ffd88a; } }
    * { box-sizing: border-box; }
    body { margin: 0 auto; max-width: 110rem; padding: 0 clamp(.75rem, 3vw, 2rem) 3rem; background: var(--back);
      color: var(--text); font: 1rem/1.45 system-ui, sans-serif; overflow-wrap: anywhere; }
    a { color: var(--accent); }
    :focus-visible { outline: 3px solid var(--accent); outline-offset: 2px; }
    .skip { position: absolute; left: -100vw; }
    .skip:focus { left: 1rem; top: .5rem; background: var(--card); padding: .5rem; z-index: 2; }
    header { display: flex; flex-wrap: wrap; gap: 0 1.5rem; align-items: baseline; }
    h1 { font-size: 1.5rem; margin: 1rem 0; }
    nav a { display: inline-block; padding: .5rem .25rem; margin-right: .75rem; }
    nav a[aria-current] { color: var(--text); font-weight: 600; text-decoration: none; }
    #bar { position: sticky; top: 0; z-index: 1; background: var(--warn-back); color: var(--warn); padding: .5rem .9rem;
      border-radius: .5rem; margin-bottom: 1rem; }
    #bar[hidden] { display: none; }
    main:focus { outline: none; }
    #gallery { list-style: none; margin: 0; padding: 0; display: grid; gap: 1.1rem;
      grid-template-columns: repeat(auto-fill, minmax(min(16rem, 100%), 1fr)); }
    article { height: 100%; background: var(--card); border: 1px solid var(--line); border-radius: .75rem; overflow: hidden;
      display: flex; flex-direction: column; }
    .picture { position: relative; display: block; aspect-ratio: 4 / 3; background: var(--line); outline-offset: -3px; }
    .picture img { width: 100%; height: 100%; object-fit: cover; display: block; color: var(--text); }
    .picture.missing img { position: absolute; width: 1px; height: 1px; opacity: 0; }
    .picture.missing::after { content: "This picture cannot be shown."; display: grid; place-items: center; height: 100%;
      color: var(--soft); padding: 1rem; text-align: center; }
    .text { padding: .7rem .9rem .8rem; display: flex; flex-direction: column; flex: 1; }
    .text p { margin: 0 0 .2rem; }
    .description { font-weight: 600; }
    .place, .about, footer { color: var(--soft); font-size: .875rem; }
    .about { margin-top: auto !important; padding-top: .35rem; }
    #more { display: block; width: max-content; margin: 2rem auto; padding: .7rem 1.6rem; border: 1px solid var(--accent);
      border-radius: 2rem; text-decoration: none; }
    .scrolling { overflow-x: auto; }
    table { border-collapse: collapse; width: 100%; background: var(--card); }
    th, td { text-align: left; padding: .6rem .8rem; border-bottom: 1px solid var(--line); vertical-align: top; }
    thead th, td:nth-child(n+3) { white-space: nowrap; overflow-wrap: normal; }
    small { color: var(--soft); font-weight: 400; }
    .away { color: var(--warn); }
    footer { margin-top: 2rem; }
    @media (prefers-reduced-motion: no-preference) {
      li.new { animation: arrive .5s ease-out; }
      @keyframes arrive { from { opacity: 0; transform: translateY(-1.5rem); } }
    }

    """

  static let script = """
    "use strict";
    const list = document.getElementById("gallery");
    const bar = document.getElementById("bar");
    let version = Number(document.body.dataset.version);
    let busy = false, again = false;

    // A picture that does not come says so.
    const missing = (event) => event.target.tagName === "IMG" && event.target.parentElement.classList.add("missing");
    document.addEventListener("error", missing, true);
    for (const image of document.images)
      if (image.complete && image.naturalWidth === 0 && image.currentSrc) image.parentElement.classList.add("missing");

    async function page(address) {
      const answer = await fetch(address, { headers: { Accept: "text/html" } });
      if (!answer.ok) throw new Error(String(answer.status));
      return new DOMParser().parseFromString(await answer.text(), "text/html");
    }

    // Takes over what is new on the first page; what is here already stays where it is.
    async function refresh() {
      if (busy) { again = true; return; }
      busy = true;
      try {
        const fresh = await page(list ? "/" : location.pathname);
        version = Number(fresh.body.dataset.version);
        bar.replaceChildren(...fresh.getElementById("bar").childNodes);
        bar.hidden = fresh.getElementById("bar").hidden;
        if (list && fresh.body.dataset.run !== document.body.dataset.run) replace(fresh);
        else if (list) merge(fresh);
        else document.querySelector("main").replaceChildren(...fresh.querySelector("main").childNodes);
      } catch { /* The stream says when the server is back. */ }
      busy = false;
      if (again) { again = false; refresh(); }
    }

    // Another run of the server has other addresses for its pictures.
    function replace(fresh) {
      document.body.dataset.run = fresh.body.dataset.run;
      list.replaceChildren(...fresh.querySelectorAll("#gallery > li"));
      for (const id of ["more", "empty"]) document.getElementById(id)?.remove();
      addMore(fresh);
    }

    function merge(fresh) {
      let before = list.firstElementChild;
      for (const item of fresh.querySelectorAll("#gallery > li")) {
        const here = document.getElementById(item.id);
        if (here) {
          here.querySelector(".about").replaceChildren(...item.querySelector(".about").childNodes);
          before = here.nextElementSibling;
        } else {
          item.classList.add("new");
          list.insertBefore(document.importNode(item, true), before);
        }
      }
      if (list.childElementCount) document.getElementById("empty")?.remove();
      if (!document.getElementById("more")) addMore(fresh);
    }

    // More is loaded when its link is reached or chosen.
    const watcher = "IntersectionObserver" in window && new IntersectionObserver(
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
      list.after(document.importNode(link, true));
      watcher && watcher.observe(document.getElementById("more"));
    }
    if (list) {
      document.addEventListener("click", (event) => {
        if (event.target.id === "more" && !event.ctrlKey && !event.metaKey) { event.preventDefault(); more(); }
      });
      const link = document.getElementById("more");
      if (link && watcher) watcher.observe(link);
    }

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

    const events = new EventSource("/events");
    const changed = (event) => { if (JSON.parse(event.data).version !== version) refresh(); };
    let isLost = false;
    for (const name of ["hello", "items", "health", "reset"]) events.addEventListener(name, changed);
    events.addEventListener("open", () => { if (isLost) { isLost = false; refresh(); } });
    events.addEventListener("error", () => {
      isLost = true;
      bar.textContent = "This page has lost its server, and tries again. It may not be up to date.";
      bar.hidden = false;
    });

    """
}
