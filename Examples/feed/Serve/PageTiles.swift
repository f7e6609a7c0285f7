extension PageAssets {
  /// The beginning of a script, which finds transparent images.
  static let transparency = #"""
    "use strict";
    // True if part of a loaded image is transparent.
    function isClear(image) {
      const canvas = document.createElement("canvas"), side = canvas.width = canvas.height = 32;
      const pen = canvas.getContext("2d", { willReadFrequently: true });
      pen.drawImage(image, 0, 0, side, side);
      return pen.getImageData(0, 0, side, side).data.some((value, place) => place % 4 === 3 && value < 250);
    }

    """#

  /// The part of the script that fits tiles to their images, and shows why an image is missing.
  static let tiles = #"""
    // The reason why the image at a URL can't be shown.
    async function why(address) {
      let reason = "";
      try {
        const answer = await fetch(address, { cache: "force-cache" });
        if (!answer.ok) reason = (await answer.text()).trim();
      } catch { reason = "This page has lost its connection to the server."; }
      return reason ? reason[0].toUpperCase() + reason.slice(1) : "This image cannot be shown.";
    }
    const small = (href) => href.split("?")[0] + "?w=400";
    async function missing(image) {
      const place = image.closest(".image");
      if (!place || place.classList.contains("missing")) return;
      // Instead of an image that can't be shown, show one of the next three of its post.
      const card = image.closest("li"), others = [...card.querySelectorAll(".set a")].slice(0, 3), turn = Number(place.dataset.place ?? 0);
      place.dataset.place = others[turn] ? turn + 1 : 0;
      if (others[turn]) {
        for (const name of ["srcset", "width", "height"]) image.removeAttribute(name);
        if (!card.matches(".unknown")) card.classList.add("whole");
        [image.alt, image.src] = [others[turn].dataset.alt ?? image.alt, small(others[turn].href)];
        return;
      }
      place.classList.add("missing");
      const words = document.createElement("span");
      words.className = "reason";
      place.append(words);
      words.textContent = await why(turn ? place.href : image.currentSrc || image.src);
    }
    // Loads again what could not be loaded.
    function reloadMissing() {
      for (const place of document.querySelectorAll(".image.missing")) {
        const image = place.querySelector("img");
        place.classList.remove("missing");
        place.querySelector(".reason").remove();
        image.src = image.srcset ? image.src : small(place.href);
      }
    }
    // The server knows the sizes of images that were decoded before; others are known once they are loaded. Then a tile
    // near the screen stays as it is and shows the whole image; a tile further down gets the image's proportions.
    const steps = \#(LayoutRatio.count), least = \#(LayoutRatio.least), growth = \#(LayoutRatio.growth);
    // The images of one animation frame: first all sizes are read, then all tiles are changed, for a single layout.
    let fitting = [];
    function fit(image) {
      const card = image.closest("li.unknown");
      image.closest(".image")?.classList.add("loaded");
      if (!image.naturalWidth || !card) return;
      // One task per image, because drawing it may decode it again.
      setTimeout(() => { if (isClear(image)) card.classList.add("clear"); });
      if (fitting.push(image) === 1) requestAnimationFrame(fitAll);
    }
    function fitAll() {
      const places = fitting.map((image) => [image, image.closest("li.unknown")?.getBoundingClientRect().top > innerHeight + 600]);
      fitting = [];
      for (const [image, isBelow] of places) {
        const card = image.closest("li.unknown"), ratio = image.naturalWidth / image.naturalHeight;
        if (!card) continue;
        const step = Math.min(Math.max(Math.round(Math.log(ratio / least) / Math.log(growth)), 0), steps - 1);
        const tile = isBelow ? least * growth ** step : 1.5;
        if (isBelow) card.classList.replace("unknown", "r" + step);
        if (1 - Math.min(ratio, tile) / Math.max(ratio, tile) > \#(LayoutRatio.mostCropped)) card.classList.add("whole");
      }
    }
    document.addEventListener("load", (event) => { if (event.target.tagName === "IMG") fit(event.target); }, true);
    document.addEventListener("error", (event) => { if (event.target.tagName === "IMG") missing(event.target); }, true);
    for (const image of document.images) {
      if (!image.complete || !image.currentSrc) continue;
      if (image.naturalWidth) fit(image); else missing(image);
    }

    """#
}
