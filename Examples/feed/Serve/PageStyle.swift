extension PageAssets {
  static let style = """
    :root { color-scheme: light dark; --back: #f6f6f4; --card: #fff; --text: #1b1b1a; --soft: #595955; --line: #dcdcd8;
      --accent: #1d4f99; --warn-back: #fff1d6; --warn: #6b4300; --good: #1d6b3a; }
    @media (prefers-color-scheme: dark) { :root { --back: #141413; --card: #1f1f1e; --text: #ecece9; --soft: #a9a9a3;
      --line: #383836; --accent: #8cb8ff; --warn-back: #3a2c0c; --warn: #ffd88a; --good: #7fd6a0; } }
    * { box-sizing: border-box; }
    body { margin: 0 auto; max-width: 110rem; padding: 0 clamp(.75rem, 3vw, 2rem) 3rem; background: var(--back);
      color: var(--text); font: 1rem/1.45 system-ui, sans-serif; overflow-wrap: anywhere; }
    a { color: var(--accent); }
    :focus-visible { outline: 3px solid var(--accent); outline-offset: 2px; }
    .unseen { position: absolute; width: 1px; height: 1px; margin: -1px; overflow: hidden; clip-path: inset(50%);
      white-space: nowrap; }
    .skip { position: absolute; left: -100vw; }
    .skip:focus { left: 1rem; top: .5rem; background: var(--card); padding: .5rem; z-index: 3; }

    header { display: flex; flex-wrap: wrap; gap: .25rem 1.25rem; align-items: center; padding: .9rem 0; }
    .brand { display: flex; gap: .6rem; align-items: center; font-weight: 700; font-size: 1.25rem; }
    nav a { display: inline-block; padding: .3rem .8rem; border-radius: 1rem; text-decoration: none; }
    nav a[aria-current] { color: var(--text); background: var(--line); font-weight: 600; }
    @media (max-width: 30rem) { nav a { padding: .3rem .55rem; } }
    nav a:hover { text-decoration: underline; }
    #count { margin: 0 0 0 auto; color: var(--soft); font-size: .875rem; }
    #bar { position: sticky; top: 0; z-index: 1; background: var(--warn-back); color: var(--warn); padding: .5rem .9rem;
      border-radius: .5rem; margin-bottom: 1rem; }
    #bar a { color: inherit; }
    #bar[hidden], #news[hidden] { display: none; }
    #news { position: fixed; bottom: 1.25rem; left: 50%; transform: translateX(-50%); z-index: 2; padding: .6rem 1.2rem;
      border: 0; border-radius: 2rem; background: var(--accent); color: var(--back); font: inherit; font-weight: 600;
      cursor: pointer; box-shadow: 0 .2rem .8rem #0005; }
    main:focus { outline: none; }

    #gallery { list-style: none; margin: 0; padding: 0; display: grid; gap: 1.1rem;
      grid-template-columns: repeat(auto-fill, minmax(min(16rem, 100%), 1fr)); }
    article { height: 100%; background: var(--card); border: 1px solid var(--line); border-radius: .75rem; overflow: hidden;
      display: flex; flex-direction: column; }
    .picture { position: relative; display: block; flex: none; aspect-ratio: 4 / 3; background: var(--line);
      outline-offset: -3px; text-decoration: none; overflow: hidden; }
    .picture img { position: absolute; inset: 0; width: 100%; height: 100%; object-fit: cover; color: var(--text); }
    .picture.missing img { opacity: 0; }
    .picture .reason { position: absolute; inset: 0; display: grid; place-items: center; padding: 1rem; color: var(--soft);
      text-align: center; font-size: .875rem; }
    .text { padding: .7rem .9rem .8rem; display: flex; flex-direction: column; flex: 1; }
    .text p { margin: 0; }
    .description { font-weight: 600; }
    .untitled .description { color: var(--soft); font-weight: 400; font-style: italic; }
    .description, .place { display: -webkit-box; -webkit-box-orient: vertical; -webkit-line-clamp: 4; overflow: hidden; }
    .text { position: relative; }
    .fresh { color: var(--accent); font-size: .75rem; text-transform: uppercase; }
    a.post { color: inherit; text-decoration: none; }
    a.post:hover, a.post:focus { text-decoration: underline; }
    .star { position: absolute; right: .4rem; bottom: .4rem; border: 0; padding: .3rem; background: none; font-size: 1.2rem;
      line-height: 1; color: var(--line); cursor: pointer; }
    .star[aria-pressed=true] { color: var(--warn); }
    #search { margin: 0 0 1rem; }
    #folders { display: flex; flex-wrap: wrap; gap: .25rem; margin: 0 0 1rem; }
    nav a[aria-current=true] { color: var(--text); background: var(--line); font-weight: 600; }
    a.source { color: inherit; }
    .picture img.whole { object-fit: contain; }
    #search input { width: min(24rem, 100%); padding: .5rem .9rem; border: 1px solid var(--line); border-radius: 2rem;
      font: inherit; color: inherit; background: var(--card); }
    .place, .about, footer { color: var(--soft); font-size: .875rem; }
    .about { margin-top: auto !important; padding-top: .5rem; display: flex; flex-wrap: wrap; gap: 0 .6rem; }
    .star ~ .about { padding-right: 1.6rem; }
    .about .source { flex: 1 1 6rem; white-space: nowrap; overflow: hidden; text-overflow: ellipsis; }
    .about time { white-space: nowrap; }
    .origin { flex: 1 1 100%; white-space: nowrap; overflow: hidden; text-overflow: ellipsis; }
    .origin::before, .well::before, .failing::before { content: ""; display: inline-block; width: .5rem; height: .5rem;
      border-radius: 50%; margin-right: .4rem; background: var(--good); }
    .failing::before { background: none; border: 2px solid var(--warn); }
    .failing { color: var(--warn); }
    .pages { display: flex; gap: 1rem; justify-content: center; margin: 2rem 0; }
    .pages a { padding: .7rem 1.6rem; border: 1px solid var(--accent); border-radius: 2rem; text-decoration: none; }
    #empty { text-align: center; padding: 4rem 0; color: var(--soft); }

    dialog { --card: #1f1f1e; --text: #ececec; --line: #383836; --accent: #8cb8ff; width: 100%; height: 100%; max-width: none;
      max-height: none; border: 0; padding: 1rem; color: var(--text); background: #141413; }
    dialog[open] { display: flex; flex-direction: column; align-items: center; gap: .75rem; }
    dialog::backdrop { background: #000c; }
    dialog img { flex: 1; min-height: 0; max-width: 100%; object-fit: contain; }
    dialog img:not([src]), dialog img.missing { display: none; }
    dialog p { margin: 0; max-width: 60rem; text-align: center; max-height: 6em; overflow: auto; }
    dialog p:empty { display: none; }
    dialog .reason { margin: auto; }
    dialog .links { padding: .3rem; }
    dialog .links a { color: var(--accent); margin: 0 .5rem; }
    dialog button { font: inherit; padding: .4rem 1rem; border-radius: 1rem; border: 1px solid var(--line); color: inherit;
      background: var(--card); cursor: pointer; }
    dialog .keys { display: flex; gap: .5rem; }

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
