extension PageAssets {
  /// The style of the enlarged view, the help and the slideshow.
  static let viewerStyle = """
    dialog { --card: #232322; --text: #efefec; --soft: #b9b9b3; --line: #454543; --accent: #9dc2ff; color: var(--text);
      border: 0; }
    dialog::backdrop { background: #000d; }
    #large { width: 100%; height: 100%; max-width: none; max-height: none; padding: 0; overflow: hidden; background: #0b0b0a; }
    #large[open] { display: flex; flex-direction: column; }
    #stage { position: relative; flex: 1; min-height: 0; overflow: hidden; touch-action: none; cursor: zoom-in; }
    #stage.near { cursor: grab; }
    #stage.held { cursor: grabbing; }
    #stage > div { position: absolute; inset: 0; transform-origin: 50% 50%; }
    #stage img { position: absolute; inset: 0; margin: auto; width: 100%; height: 100%; object-fit: contain;
      -webkit-user-drag: none; user-select: none; }
    #stage img.missing { display: none; }
    #large .reason { position: absolute; inset: 40% 10% auto; margin: 0; text-align: center; pointer-events: none;
      text-shadow: 0 0 6px #000, 0 0 2px #000; }
    #about { display: flex; flex-wrap: wrap; gap: .3rem 1.5rem; align-items: center; padding: .6rem 1rem .7rem;
      background: #161615; }
    #about > div { flex: 1 1 20rem; min-width: 0; }
    #about p { margin: 0; max-height: 4.4em; overflow: auto; }
    #about p:empty { display: none; }
    #about .title { font-weight: 600; }
    #about .meta, #about .words { color: var(--soft); font-size: .875rem; }
    #about a { color: inherit; }
    #about .tools { flex: none; display: flex; flex-wrap: wrap; gap: .3rem; max-width: 100%; }
    #about .tools > *, .turn, #close { display: inline-block; padding: .35rem .75rem; border: 1px solid var(--line);
      border-radius: 1rem; color: inherit; background: var(--card); font-size: .875rem; line-height: 1.4;
      text-decoration: none; }
    #about .tools [hidden] { display: none; }
    #about [aria-pressed=true] { color: #ffd54a; }
    .turn, #close { position: absolute; z-index: 1; background: #000a; border: 0; font-size: 1.4rem; line-height: 1; }
    .turn { top: calc(50% - 3rem); padding: 1rem .7rem; border-radius: .5rem; }
    .turn[value=previous] { left: .5rem; }
    .turn[value=next] { right: .5rem; }
    .turn:disabled { visibility: hidden; }
    #close { top: .5rem; right: .5rem; padding: .45rem .7rem; border-radius: 50%; }
    #large:fullscreen #about { display: none; }
    #help { background: #1c1c1b; border-radius: .8rem; padding: 1.2rem 1.6rem; max-width: 32rem; }
    #help dl { display: grid; grid-template-columns: auto 1fr; gap: .35rem 1.2rem; margin: 0 0 1rem; }
    #help dt { font-weight: 600; }
    #help dd { margin: 0; }
    #help h2 { margin: 0 0 .8rem; font-size: 1.1rem; }
    #help button { color: inherit; background: var(--card); border: 1px solid var(--line); border-radius: 1rem;
      padding: .35rem 1rem; }
    @media (max-width: 36rem) {
      .turn { padding: .8rem .5rem; }
      .turn[value=previous] { left: 0; }
      .turn[value=next] { right: 0; }
      #about { padding: .5rem .7rem; }
    }
    @media (hover: none) { #about [value=near], #about [value=far] { display: none; } }
    .show { padding: 0; background: #000; color: #fff; overflow: hidden; cursor: none; }
    .show.awake { cursor: default; }
    .show .frame { position: fixed; inset: 0; margin: 0; }
    .show .frame img { position: absolute; inset: 0; width: 100%; height: 100%; object-fit: contain; }
    .show figcaption, .show #clock { position: fixed; left: 1.5rem; bottom: 1.2rem; max-width: 70vw; text-shadow: 0 0 8px #000,
      0 0 3px #000; font-size: 1.1rem; }
    .show #clock { left: auto; right: 1.5rem; z-index: 1; font-size: 2.4rem; font-variant-numeric: tabular-nums; }
    .show nav { position: fixed; top: 1rem; right: 1rem; z-index: 1; opacity: 0; }
    .show nav a { color: #fff; background: #000a; }
    .show.awake nav, .show nav:focus-within { opacity: 1; }
    @media (prefers-reduced-motion: no-preference) {
      .show .frame { transition: opacity 1s; }
      .show .frame.coming { opacity: 0; }
      #stage img { animation: sharpen .15s; }
      #stage img.thumb { animation: none; }
      @keyframes sharpen { from { opacity: 0; } }
    }

    """
}
