extension PageAssets {
  /// The part of the script that zooms and moves an enlarged image, with the wheel, by touch, and with keys.
  static let zoom = #"""
    let scale = 1, across = 0, down = 0;
    const most = 12;
    // Shows the whole image.
    function whole() {
      [scale, across, down] = [1, 0, 0];
      settle();
    }
    // Limits the position; returns how far the image can move from its middle, to the sides and up or down.
    function settle() {
      const view = stage.firstChild;
      let [wide, high] = [0, 0];
      if (!view) return [wide, high];
      const image = view.querySelector("img:not(.missing)"), box = stage.getBoundingClientRect();
      if (image?.naturalWidth && scale > 1) {
        const [width, height] = [image.naturalWidth, image.naturalHeight];
        const fit = Math.min(box.width / width, box.height / height, enlargement) * scale;
        [wide, high] = [Math.max(0, (width * fit - box.width) / 2), Math.max(0, (height * fit - box.height) / 2)];
        across = Math.min(Math.max(across, -wide), wide);
        down = Math.min(Math.max(down, -high), high);
      } else [across, down] = [0, 0];
      view.style.transform = scale === 1 ? "" : `translate(${across}px, ${down}px) scale(${scale})`;
      stage.classList.toggle("near", scale > 1);
      if (scale > 1) sharpen(view);
      return [wide, high];
    }
    // Loads the original if zooming needs more pixels.
    function sharpen(view) {
      const image = view.querySelector("img:not(.thumb)");
      if (!image?.naturalWidth || image.dataset.best || image.naturalWidth >= image.clientWidth * scale * devicePixelRatio) return;
      image.dataset.best = "1";
      const best = new Image();
      best.src = original(image.src);
      best.decode().then(() => { if (best.naturalWidth > image.naturalWidth) image.src = best.src; }, () => {});
    }
    // Zooms around a point, which stays in its place.
    function zoom(by, x, y) {
      const box = stage.getBoundingClientRect(), before = scale;
      const fromMiddle = [(x ?? middle(box)) - middle(box), (y ?? (box.top + box.bottom) / 2) - (box.top + box.bottom) / 2];
      scale = Math.min(Math.max(scale * by, 1), most);
      if (scale < 1.02) scale = 1;
      const grown = scale / before;
      across = fromMiddle[0] - (fromMiddle[0] - across) * grown;
      down = fromMiddle[1] - (fromMiddle[1] - down) * grown;
      settle();
    }
    // Moves the image; false if no part of it is hidden in that direction or the opposite one.
    function pan(x, y) {
      across += x * stage.clientWidth / 4;
      down += y * stage.clientHeight / 4;
      const [wide, high] = settle();
      return (x ? wide : high) > 0;
    }
    stage?.addEventListener("wheel", (event) => {
      event.preventDefault();
      zoom(Math.exp(-event.deltaY * (event.ctrlKey ? 0.01 : 0.002)), event.clientX, event.clientY);
    }, { passive: false });
    const fingers = new Map();
    let start = null;
    const apart = () => {
      const [one, other] = [...fingers.values()];
      return { distance: Math.hypot(one.x - other.x, one.y - other.y), x: (one.x + other.x) / 2, y: (one.y + other.y) / 2 };
    };
    stage?.addEventListener("pointerdown", (event) => {
      if (event.button) return;
      stage.setPointerCapture(event.pointerId);
      fingers.set(event.pointerId, { x: event.clientX, y: event.clientY });
      start = fingers.size === 1 ? { x: event.clientX, y: event.clientY, hasMoved: false } : null;
      stage.classList.add("held");
    });
    stage?.addEventListener("pointermove", (event) => {
      const finger = fingers.get(event.pointerId);
      if (!finger) return;
      const before = fingers.size === 2 ? apart() : null;
      const [x, y] = [event.clientX - finger.x, event.clientY - finger.y];
      [finger.x, finger.y] = [event.clientX, event.clientY];
      if (before) {
        const now = apart();
        if (before.distance) zoom(now.distance / before.distance, now.x, now.y);
      } else if (scale > 1) {
        [across, down] = [across + x, down + y];
        if (start) start.hasMoved = true;
        settle();
      }
    });
    function release(event) {
      if (!fingers.delete(event.pointerId)) return;
      stage.classList.toggle("held", fingers.size > 0);
      if (!start || scale > 1 || event.type !== "pointerup") return;
      const [x, y] = [event.clientX - start.x, event.clientY - start.y];
      start = null;
      if (Math.abs(x) > 50 && Math.abs(x) > 1.5 * Math.abs(y)) step(x < 0 ? 1 : -1);
      else if (y > 90 && y > 1.5 * Math.abs(x)) large.close();
    }
    stage?.addEventListener("pointerup", release);
    stage?.addEventListener("pointercancel", release);
    stage?.addEventListener("dblclick", (event) => {
      if (scale > 1) whole(); else zoom(2.5, event.clientX, event.clientY);
    });
    stage?.addEventListener("dragstart", (event) => event.preventDefault());
    if (list) seek();

    """#
}
