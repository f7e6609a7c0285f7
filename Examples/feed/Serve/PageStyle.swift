extension PageAssets {
  static let style = page + LayoutRatio.style + PageAssets.viewerStyle

  private static let page = """
    :root { color-scheme: light dark; --back: #fafaf8; --card: #fff; --text: #1b1b1a; --soft: #5b5b57; --line: #deded9;
      --accent: #1d4f99; --warn-back: #fff1d6; --warn: #6b4300; --good: #1d6b3a; }
    @media (prefers-color-scheme: dark) { :root { --back: #121211; --card: #1f1f1e; --text: #ecece9; --soft: #a9a9a3;
      --line: #363634; --accent: #8cb8ff; --warn-back: #3a2c0c; --warn: #ffd88a; --good: #7fd6a0; } }
    * { box-sizing: border-box; }
    body { margin: 0; padding: 0 clamp(.75rem, 1.6vw, 2rem) 3rem; background: var(--back); color: var(--text);
      font: 1rem/1.45 system-ui, sans-serif; overflow-wrap: anywhere; }
    a { color: var(--accent); }
    button { font: inherit; cursor: pointer; }
    :focus-visible { outline: 3px solid var(--accent); outline-offset: 2px; }
    .unseen { position: absolute; width: 1px; height: 1px; margin: -1px; overflow: hidden; clip-path: inset(50%);
      white-space: nowrap; }
    .skip { position: absolute; left: -100vw; }
    .skip:focus { left: 1rem; top: .5rem; background: var(--card); padding: .5rem; z-index: 3; }

    header, #filter { display: flex; flex-wrap: wrap; gap: .3rem .9rem; align-items: center; }
    header { padding: .7rem 0; }
    .brand { display: flex; gap: .6rem; align-items: center; font-weight: 700; font-size: 1.2rem; color: inherit;
      text-decoration: none; }
    nav a, summary { display: inline-block; padding: .3rem .75rem; border-radius: 1rem; text-decoration: none; }
    nav a:hover, summary:hover { text-decoration: underline; }
    nav a[aria-current] { color: var(--text); background: var(--line); font-weight: 600; }
    #search { flex: 0 1 22rem; margin-left: auto; }
    #search input { width: 100%; padding: .4rem .9rem; border: 1px solid var(--line); border-radius: 2rem; font: inherit;
      color: inherit; background: var(--card); }
    #count { margin: 0; color: var(--soft); font-size: .875rem; }
    #filter { margin: 0 0 .7rem -.4rem; font-size: .925rem; gap: .2rem; }
    #filter details { position: relative; }
    #filter summary { color: var(--accent); cursor: pointer; }
    #filter ul { position: absolute; z-index: 2; margin: .2rem 0; padding: .4rem; list-style: none; width: min(22rem, 80vw);
      max-height: 60vh; overflow: auto; background: var(--card); border: 1px solid var(--line); border-radius: .6rem;
      box-shadow: 0 .3rem 1rem #0003; }
    #filter li a { display: block; }
    #bar { position: sticky; top: 0; z-index: 1; background: var(--warn-back); color: var(--warn); padding: .45rem .9rem;
      border-radius: .5rem; margin-bottom: .8rem; }
    #bar a { color: inherit; }
    #bar[hidden], #news[hidden] { display: none; }
    #news { position: fixed; bottom: 1.25rem; left: 50%; transform: translateX(-50%); z-index: 2; padding: .6rem 1.2rem;
      border: 0; border-radius: 2rem; background: var(--accent); color: var(--back); font-weight: 600;
      box-shadow: 0 .2rem .8rem #0005; }
    main:focus { outline: none; }

    #gallery { --h: clamp(9rem, 9rem + 4vw, 18rem); list-style: none; margin: 0; padding: 0; display: flex; flex-wrap: wrap; gap: .6rem .5rem; }
    #gallery::after { content: ""; flex: 1e5 0 0; }
    /* Each tile changes the layout of the last row, so the list is shown only once it is parsed completely. */
    #gallery:not(:has(+ *)) { display: none; }
    #gallery > li { --r: 1.5; flex: calc(var(--r) * 100) 1 calc(var(--r) * var(--h)); min-width: 0; scroll-margin: 4rem; }
    article { position: relative; }
    .image { position: relative; display: block; aspect-ratio: var(--r); background: var(--line); border-radius: .3rem;
      text-decoration: none; overflow: hidden; }
    .shade, .image img { position: absolute; inset: 0; width: 100%; height: 100%; }
    .shade { background: currentColor; }
    .image img { object-fit: cover; color: var(--text); overflow: hidden; }
    .whole .image img { object-fit: contain; }
    .whole .shade { opacity: .3; }
    .small .image img { object-fit: scale-down; }
    /* Squares in two medium grays, on which any drawing can be seen. */
    .clear .image, #stage.clear, .show .clear { background: repeating-conic-gradient(#777 0 25%, #8c8c8c 0 50%) 0 0 / 1rem 1rem; }
    .clear .shade, li:not(.whole) .loaded .shade { display: none; }
    .image.missing img { opacity: 0; }
    .image .reason { position: absolute; inset: 0; display: grid; place-items: center; padding: 1rem; overflow: auto;
      color: var(--soft); background: var(--line); text-align: center; font-size: .875rem; }
    .badge, .set > summary { position: absolute; left: .45rem; top: .45rem; padding: .1rem .5rem; border-radius: .8rem;
      background: #000b; color: #fff; font-size: .8rem; font-weight: 600; line-height: 1.5; pointer-events: none; }
    .set > summary { pointer-events: auto; cursor: pointer; list-style: none; }
    .set > summary::before { content: ""; display: inline-block; width: .6rem; height: .6rem; margin-right: .35rem;
      border: 1.5px solid; border-width: 0 1.5px 1.5px 0; box-shadow: inset 0 0 0 1.5px; opacity: .9; }
    .set ~ .badge { left: auto; right: 2.9rem; }
    .set ol { position: absolute; z-index: 1; top: 2rem; left: .45rem; right: .45rem; margin: 0; padding: .5rem .5rem .5rem 2rem;
      border-radius: .4rem; background: var(--card); font-size: .875rem; }
    .star { position: absolute; right: .25rem; top: .25rem; border: 0; padding: .35rem .5rem; background: none; font-size: 1.2rem;
      line-height: 1; color: #fff; text-shadow: 0 0 4px #000, 0 0 2px #000; opacity: 0; }
    li:hover .star, .star:focus, .star[aria-pressed=true] { opacity: 1; }
    .star[aria-pressed=true] { color: #ffd54a; }
    @media (hover: none) { .star { opacity: .75; } }
    .text { padding: .25rem .1rem 0; line-height: 1.35; }
    .text p { margin: 0; white-space: nowrap; overflow: hidden; text-overflow: ellipsis; }
    .description { font-size: .9rem; }
    .untitled .description { color: var(--soft); font-style: italic; }
    .fresh { color: var(--accent); font-size: .75rem; font-weight: 600; text-transform: uppercase; }
    a.post, a.source { color: inherit; text-decoration: none; }
    a.post:hover, a.post:focus, a.source:hover, a.source:focus { text-decoration: underline; }
    .about, footer { color: var(--soft); font-size: .8rem; }
    .about time::before { content: "· "; }

    @media (max-width: 36rem) {
      body { padding: 0 3vw 3rem; }
      #gallery { display: grid; grid-template-columns: 1fr 1fr; grid-auto-rows: 1vw; gap: 0 2vw; }
      #gallery::after { content: none; }
      #gallery > li { grid-row: span var(--s, 33); }
      .text { position: absolute; inset: auto 0 0; max-height: 100%; padding: 1.2rem .5rem .35rem; border-radius: 0 0 .3rem .3rem; color: #fff;
        background: linear-gradient(#0000, #000a 45%, #000c); pointer-events: none; }
      .text a { pointer-events: auto; }
      .text .about, .text .fresh, .untitled .description { color: #e8e8e4; }
      #search { flex: 1 1 100%; order: 1; }
      .brand { font-size: 0; gap: 0; }
      header { gap: .3rem; }
      nav a, summary { padding: .3rem .6rem; }
      #filter { margin-left: -.3rem; }
    }
    @media (max-width: 60rem) { #count { display: none; } }
    .failing { color: var(--warn); }
    .well::before, .failing::before { content: ""; display: inline-block; width: .5rem; height: .5rem; border-radius: 50%;
      margin-right: .4rem; background: var(--good); }
    .failing::before { background: none; border: 2px solid var(--warn); }
    .pages { display: flex; gap: 1rem; justify-content: center; margin: 2rem 0; }
    .pages a { padding: .7rem 1.6rem; border: 1px solid var(--accent); border-radius: 2rem; text-decoration: none; }
    #empty { text-align: center; padding: 4rem 0; color: var(--soft); }

    .scrolling { overflow-x: auto; background: var(--card); border: 1px solid var(--line); border-radius: .75rem; }
    table { border-collapse: collapse; width: 100%; }
    th, td { text-align: left; padding: .7rem .9rem; border-bottom: 1px solid var(--line); vertical-align: top; }
    tbody tr:last-child > * { border-bottom: 0; }
    thead th { font-size: .875rem; color: var(--soft); font-weight: 600; }
    thead th, td:nth-child(n+3) { white-space: nowrap; overflow-wrap: normal; }
    .number { text-align: right; font-variant-numeric: tabular-nums; }
    tbody th, td:nth-child(2) { min-width: min(20rem, 80vw); }
    small { color: var(--soft); font-weight: 400; }
    footer { margin-top: 2rem; }
    @media (prefers-reduced-motion: no-preference) {
      li.new { animation: arrive .5s ease-out; }
      @keyframes arrive { from { opacity: 0; transform: translateY(-1.5rem); } }
    }

    """
}
