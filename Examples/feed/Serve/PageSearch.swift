extension PageAssets {
  /// The part of the script that searches while the user types.
  static let search = #"""
    function empty(text) {
      const here = document.getElementById("empty") ?? document.createElement("p");
      here.id = "empty";
      here.dataset.search = "";
      here.textContent = text;
      if (!here.isConnected) list.before(here);
    }

    // Searches while the user types; only the latest words count.
    const words = document.getElementById("words");
    let typed = 0, asked = 0, waiting = 0;
    // The URL of the list on the page.
    let listed = here();
    function search() {
      clearTimeout(typed);
      typed = setTimeout(find, 150);
    }
    async function find() {
      const number = ++asked, text = words.value.trim();
      const question = new URLSearchParams(new FormData(words.form));
      for (const name of ["q", "place", "past"]) question.delete(name);
      if (text) question.set("q", text);
      const address = question.size ? "/?" + question : "/";
      clearTimeout(waiting);
      // The first search after many new images indexes them, which takes a while.
      waiting = setTimeout(() => empty("Searching… Items added since the last search are indexed first."), 700);
      const fresh = await page(address).catch(() => null);
      if (number !== asked) return;
      clearTimeout(waiting);
      if (!fresh) return empty("The search failed. Press Enter to try again.");
      // An image that was enlarged in the meantime stays.
      if (large.open) return large.addEventListener("close", search, { once: true });
      // A search adds one entry to the history, so that Back leads to the page before it.
      if (address !== listed) history[history.state?.search ? "replaceState" : "pushState"]({ search: true }, "", address);
      listed = here();
      document.getElementById("empty")?.remove();
      replace(fresh);
      for (const part of ["nav", "#filter", "h1", "footer"]) take(part, fresh);
      document.title = fresh.title;
      list.ariaLabel = fresh.getElementById("gallery").ariaLabel;
    }
    words?.addEventListener("input", search);

    """#
}
